internal import Glibc
internal import PeripheralBlueZ
internal import PeripheralBlueZModel
internal import PeripheralCore

extension Machine {
    /// Collects the facts from files, the kernel and the user's session.
    mutating func look(at files: MachineFiles) {
        isRoot = geteuid() == 0
        membership = Self.membership(files)
        policyInterfaces = Self.policyInterfaces(files)
        kernelAdapters = files.names(in: "/sys/class/bluetooth")?.filter {
            // The directory also lists links, such as "hci0:64".
            $0.hasPrefix("hci") && $0.dropFirst(3).allSatisfy(\.isNumber)
        }
        radioSwitches = Self.radioSwitches(files)
        seesLinks = HCISocketLinks().isAvailable
        daemon.installedPath = Self.daemonPaths.first(where: files.canExecute)
        daemon.installedVersion = daemon.installedPath.flatMap { Self.version(of: $0, files) }
        system = System(files)
        // The kernel answers also if bluetoothd does not run, or refuses this user.
        for name in adapters.map(\.name) + (kernelAdapters ?? []) where controllers[name] == nil {
            controllers[name] = Controller(of: name, files)
        }
        configuration = Self.configuration(
            files,
            path: daemon.value(of: "-f", "--configfile") ?? MainConfiguration().path
        )
    }

    private static func radioSwitches(_ files: MachineFiles) -> [RadioSwitch] {
        let directory = "/sys/class/rfkill"
        return (files.names(in: directory) ?? []).compactMap { entry in
            let path = "\(directory)/\(entry)"
            guard files.line("\(path)/type") == "bluetooth" else { return nil }
            return RadioSwitch(
                name: files.line("\(path)/name") ?? entry,
                isSoftBlocked: files.line("\(path)/soft") == "1",
                isHardBlocked: files.line("\(path)/hard") == "1"
            )
        }
    }

    private static func configuration(_ files: MachineFiles, path: String) -> MainConfiguration {
        do throws(MachineFiles.ReadError) {
            let bytes = try files.read(path, limit: KeyFile.maximumSize + 1)
            return MainConfiguration(path: path, content: .read(KeyFile(bytes)))
        } catch {
            switch error {
            case .missing: return MainConfiguration(path: path, content: .missing)
            case .refused(let reason): return MainConfiguration(path: path, content: .unreadable(reason))
            }
        }
    }

    private static func policyInterfaces(_ files: MachineFiles) -> Set<String>? {
        let paths = ["/etc/dbus-1/system.d/bluetooth.conf", "/usr/share/dbus-1/system.d/bluetooth.conf"]
        let contents = paths.compactMap { try? files.read($0, limit: 65_536) }
        guard !contents.isEmpty else { return nil }
        // The names are in quotation marks, so no XML parser is needed.
        let words = contents.flatMap { $0.split(separator: UInt8(ascii: "\"")) }
        return Set(words.map { String(decoding: $0, as: UTF8.self) }.filter { $0.hasPrefix("org.") })
    }

    // MARK: - Group

    private static func membership(_ files: MachineFiles) -> GroupMembership {
        let lines = (try? files.read("/etc/group", limit: 262_144))?.split(separator: 0x0A) ?? []
        for line in lines {
            let fields = String(decoding: line, as: UTF8.self)
                .split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 4, fields[0] == "bluetooth", let number = UInt32(fields[2]) else {
                continue
            }
            if sessionGroups.contains(number) { return .member }
            let isListed = userName.map { fields[3].split(separator: ",").contains(Substring($0)) } ?? false
            return isListed ? .memberAtNextLogin : .outsider
        }
        return .noGroup
    }

    private static var sessionGroups: Set<UInt32> {
        var groups = [gid_t](repeating: 0, count: 1024)
        let count = unsafe getgroups(CInt(groups.count), &groups)
        return Set(groups.prefix(Int(max(count, 0)))).union([getegid()])
    }

    private static var userName: String? {
        guard let entry = unsafe getpwuid(geteuid()), let name = unsafe entry.pointee.pw_name else {
            return nil
        }
        return unsafe String(cString: name)
    }

    // MARK: - Version

    /// The paths of bluetoothd in distributions.
    ///
    /// The doctor runs no program at any other path, even if a process has the same name.
    private static let daemonPaths = [
        "/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd",
        "/usr/local/libexec/bluetooth/bluetoothd", "/usr/sbin/bluetoothd",
    ]

    private static func version(of path: String, _ files: MachineFiles) -> BlueZVersion? {
        guard let output = unsafe popen("\(files.root)\(path) --version 2>/dev/null", "re") else {
            return nil
        }
        defer { unsafe pclose(output) }
        var line = [CChar](repeating: 0, count: 64)
        guard unsafe fgets(&line, CInt(line.count), output) != nil else { return nil }
        let text = line.prefix { $0 != 0 && $0 != 0x0A }.map { UInt8(bitPattern: $0) }
        return BlueZVersion(String(decoding: text, as: UTF8.self))
    }
}
