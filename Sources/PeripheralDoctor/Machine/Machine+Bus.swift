package import PeripheralBlueZ
internal import PeripheralCore
package import PeripheralDBus
internal import Synchronization

extension Machine {
    /// Collects the facts about this machine.
    ///
    /// The initializer does not change the machine and does not start bluetoothd.
    ///
    /// - Parameters:
    ///   - bus: The system bus.
    ///   - files: The files of the machine.
    /// - Throws: `CancellationError`.
    package init(bus: BusAddress, files: MachineFiles = MachineFiles()) async throws {
        self.init(bus: Bus(address: bus.text))
        let loop = EventLoop.make(name: "peripheral-doctor")
        do throws(BusError) {
            let connection = try await BusConnection.connect(to: bus, on: loop)
            await ask(connection)
            await connection.close()
        } catch {
            self.bus.obstacle =
                if case .connectionFailed(_, let reason) = error { reason } else { error.description }
        }
        await loop.stop()
        try Task.checkCancellation()
        look(at: files)
    }

    private mutating func ask(_ connection: BusConnection) async {
        do throws(BusError) {
            guard try await connection.isOwned(BlueZ.name) else {
                let canStart = try await connection.canStart(BlueZ.name)
                daemon.state = canStart ? .startable : .absent
                return
            }
            daemon.state = .running
            if let process = try? await connection.process(of: BlueZ.name) {
                daemon.arguments = Self.arguments(ofProcess: process)
            }
        } catch {
            bus.obstacle = error.description
            return
        }
        do throws(BusError) {
            take(
                try await connection.call(
                    BlueZ.name,
                    "/",
                    BlueZ.objectManager,
                    "GetManagedObjects",
                    timeout: .seconds(10)
                )
            )
            await tryCallBack(connection)
        } catch {
            daemon.answer =
                switch error {
                case .timedOut, .remote(name: "org.freedesktop.DBus.Error.NoReply", _): .silent
                case .remote(name: "org.freedesktop.DBus.Error.AccessDenied", _): .denied
                default: .failed(error.description)
                }
        }
    }

    private mutating func take(_ answer: [BusValue]) {
        guard let objects = answer.first?.dictionary else {
            daemon.answer = .failed("its reply is invalid")
            return
        }
        daemon.answer = .answered
        for object in objects.entries {
            guard let path = object.key.objectPath, let properties = object.value[BlueZ.adapter.text] else {
                continue
            }
            let version = BlueZVersion(ofAdapter: properties)
            daemon.reportedVersion = daemon.reportedVersion ?? BlueZVersion(reportedBy: properties)
            daemon.oldestVersion = max(version, daemon.oldestVersion ?? version)
            var adapter = Adapter(
                name: path.text.split(separator: "/").last.map(String.init) ?? path.text,
                address: properties["Address"]?.string ?? "",
                alias: properties["Alias"]?.string ?? "",
                isPowered: properties["Powered"]?.bool ?? false,
                isPairable: properties["Pairable"]?.bool ?? false,
                roles: properties["Roles"]?.elements?.compactMap(\.string),
                servesAttributes: object.value[BlueZ.gattManager.text] != nil,
                advertising: object.value[BlueZ.advertisingManager.text].map {
                    AdvertisingCapabilities(ofManager: $0, adapter: properties, version: version)
                }
            )
            adapter.details = Self.details(of: object.value)
            adapters.append(adapter)
        }
    }

    /// The properties that a bug report contains.
    ///
    /// The address, the names and the services of other programs are not among them.
    private static let reportedProperties: [(InterfaceName, [String])] = [
        (
            BlueZ.adapter,
            [
                "AddressType", "Manufacturer", "Version", "Powered", "PowerState", "Connectable",
                "Discoverable", "Discovering", "Pairable", "PairableTimeout", "Class", "Modalias", "Roles",
                "ExperimentalFeatures",
            ]
        ),
        (
            BlueZ.advertisingManager,
            [
                "ActiveInstances", "SupportedInstances", "SupportedIncludes",
                "SupportedSecondaryChannels", "SupportedFeatures", "SupportedCapabilities",
            ]
        ),
    ]

    private static func details(of object: BusValue) -> [Detail] {
        reportedProperties.flatMap { interface, names in
            names.compactMap { name in
                object[interface.text]?[name].map { Detail(name, $0.reportText) }
            }
        }
    }

    /// Tests whether bluetoothd can call this program.
    ///
    /// The method registers an application without services. bluetoothd asks this program for the services
    /// and then refuses the registration, so nothing is registered.
    private mutating func tryCallBack(_ connection: BusConnection) async {
        guard let adapter = adapters.first(where: \.servesAttributes),
            let path = try? ObjectPath("/org/bluez/\(adapter.name)")
        else { return }
        let wasCalled = CallBackFlag()
        let root: ObjectPath = "/peripheral_doctor"
        let question = ExportedMethod("GetManagedObjects", "", "a{oa{sa{sv}}}") { _, reply in
            wasCalled.set()
            reply.send { $0.append(.dictionary(BusDictionary(key: "o", value: "a{sa{sv}}"))) }
        }
        do throws(BusError) {
            try await connection.export(
                ExportedObject(root, [ExportedInterface(BlueZ.objectManager, methods: [question])])
            )
            _ = try await connection.call(
                BlueZ.name,
                path,
                BlueZ.gattManager,
                "RegisterApplication",
                [.objectPath(root), .properties([:])],
                timeout: .seconds(10)
            )
        } catch {
            // If the bus is lost or there is no reply, the policy is unknown.
            guard case .remote = error else { return }
        }
        daemon.callBack = wasCalled.isSet ? .arrived : .missing
    }

    /// Returns the command line of a process if it is bluetoothd, otherwise an empty array.
    ///
    /// The array is also empty if the command line cannot be read.
    private static func arguments(ofProcess process: UInt32) -> [String] {
        guard let bytes = try? MachineFiles().read("/proc/\(process)/cmdline", limit: 4096) else { return [] }
        let arguments = bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        let program = arguments.first?.split(separator: "/").last
        return program == "bluetoothd" ? arguments : []
    }
}

/// Whether a call has arrived, for use by two threads.
private final class CallBackFlag: Sendable {
    private let flag = Atomic(false)

    func set() { flag.store(true, ordering: .relaxed) }

    var isSet: Bool { flag.load(ordering: .relaxed) }
}

extension BusValue {
    /// The value as a person writes it.
    fileprivate var reportText: String {
        switch self {
        case .bool(let value): value ? "yes" : "no"
        case .string(let text): text
        case .variant(let value): value.reportText
        case .array(_, let elements):
            elements.isEmpty ? "none" : elements.map(\.reportText).joined(separator: ", ")
        case .dictionary(let dictionary):
            dictionary.entries.map { "\($0.key.reportText) \($0.value.reportText)" }.joined(separator: ", ")
        default: integer(Int.self).map(String.init) ?? "?"
        }
    }
}

extension BusConnection {
    fileprivate func isOwned(_ name: BusName) async throws(BusError) -> Bool {
        try await ask("NameHasOwner", [.string(name.text)])?.bool ?? false
    }

    fileprivate func canStart(_ name: BusName) async throws(BusError) -> Bool {
        try await ask("ListActivatableNames")?.elements?.contains(.string(name.text)) ?? false
    }

    fileprivate func process(of name: BusName) async throws(BusError) -> UInt32? {
        try await ask("GetConnectionUnixProcessID", [.string(name.text)])?.integer()
    }

    private func ask(_ member: MemberName, _ arguments: [BusValue] = []) async throws(BusError) -> BusValue? {
        try await call(.bus, "/org/freedesktop/DBus", "org.freedesktop.DBus", member, arguments).first
    }
}
