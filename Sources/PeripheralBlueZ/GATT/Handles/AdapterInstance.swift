internal import Glibc

/// An adapter from the moment in which it is plugged in until it is unplugged, in words.
struct AdapterInstance: CustomStringConvertible {
    let description: String

    /// Names an adapter; `nil` when it cannot be told from the next one that is plugged in.
    ///
    /// - Parameter name: The name of the adapter, such as `hci0`, which the next one may have, too.
    init?(_ name: String) {
        // The kernel gives each device that it adds a new number in its file system; it is absent where that is not mounted.
        var status = stat()
        guard unsafe stat("/sys/class/bluetooth/\(name)", &status) == 0 else { return nil }
        description = "\(name)/\(status.st_ino)"
    }
}
