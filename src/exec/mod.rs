//! Child processes: argv, cgroup, affinity, deadline, watchdog, capture, kill.
