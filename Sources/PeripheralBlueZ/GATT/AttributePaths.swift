internal import PeripheralDBus

/// The paths of the objects of the database.
///
/// They resemble the paths that bluetoothd gives to the attributes of other devices. The numbers have fixed
/// widths, so tools that sort by name show the order of the declaration. Letters and digits are always valid.
enum AttributePaths {
    /// A fixed path suffices because each run uses a separate bus connection.
    static let root: ObjectPath = "/peripheral"

    static func service(_ service: Int) -> ObjectPath {
        ObjectPath(unchecked: root.text + "/service" + padded(service))
    }

    static func characteristic(_ characteristic: Int, of service: Int) -> ObjectPath {
        ObjectPath(unchecked: self.service(service).text + "/char" + padded(characteristic))
    }

    static func descriptor(_ descriptor: Int, of characteristic: Int, of service: Int) -> ObjectPath {
        let parent = self.characteristic(characteristic, of: service)
        return ObjectPath(unchecked: parent.text + "/desc" + padded(descriptor))
    }

    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
