internal import PeripheralDBus

/// The paths of the objects of one application.
///
/// They resemble the paths that bluetoothd gives to the attributes of other devices. The numbers have fixed
/// widths, so tools that sort by name show the order of the declaration. Letters and digits are always valid.
struct AttributePaths: Hashable {
    let root: ObjectPath

    /// Creates the paths of an application with a number.
    ///
    /// Numbers suffice to distinguish applications, because each run uses a separate bus connection.
    init(ofApplication number: Int) {
        root = number == 0 ? "/peripheral" : ObjectPath(unchecked: "/peripheral_" + Self.padded(number))
    }

    func service(_ service: Int) -> ObjectPath {
        ObjectPath(unchecked: root.text + "/service" + Self.padded(service))
    }

    func characteristic(_ characteristic: Int, of service: Int) -> ObjectPath {
        ObjectPath(unchecked: self.service(service).text + "/char" + Self.padded(characteristic))
    }

    func descriptor(_ descriptor: Int, of characteristic: Int, of service: Int) -> ObjectPath {
        let parent = self.characteristic(characteristic, of: service)
        return ObjectPath(unchecked: parent.text + "/desc" + Self.padded(descriptor))
    }

    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
