internal import Glibc

/// A text that identifies an adapter from the time it is plugged in until it is unplugged.
struct AdapterInstance: CustomStringConvertible {
    let description: String

    /// Creates the text for an adapter.
    ///
    /// The text is `nil` if the adapter cannot be distinguished from the next adapter that is plugged in.
    ///
    /// - Parameter name: The name of the adapter, such as `hci0`. The next adapter may have the same name.
    init?(_ name: String) {
        // The kernel numbers each new device in its file system. If that file system is not mounted, there is
        // no number.
        var status = stat()
        guard unsafe stat("/sys/class/bluetooth/\(name)", &status) == 0 else { return nil }
        description = "\(name)/\(status.st_ino)"
    }
}
