//! Where a trial runs: this host, a UML or QEMU guest, a reboot, a Slurm node.
