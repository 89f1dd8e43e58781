"""What the compute probe does on a device: operations with known answers. Standard library only; torch is handed in."""
