internal import PeripheralBlueZ
internal import PeripheralCore

extension Machine {
    /// The software below bluetoothd, and the rights of this process.
    package struct System: Hashable, Sendable {
        /// The name of the distribution.
        package var distribution: String?
        /// The release of the Linux kernel.
        package var kernel: String?
        /// The version of the distribution's package `bluez`, or `nil` if there is none.
        ///
        /// The package managers of other distributions than Debian and its derivatives are not asked.
        package var bluezPackage: String?
        /// The container manager, or `nil` if the process does not run in a known container.
        package var container: String?
        /// The effective capabilities, or `nil` if they are unknown.
        package var capabilities: UInt64?

        package init() {}

        /// Collects the facts from files.
        init(_ files: MachineFiles) {
            distribution = files.value(of: "PRETTY_NAME", separator: "=", in: "/etc/os-release")
            kernel = files.line("/proc/sys/kernel/osrelease")
            bluezPackage = Self.debianVersion(of: "bluez", files)
            container = Self.container(files)
            capabilities = files.value(of: "CapEff", separator: ":", in: "/proc/self/status")
                .flatMap { UInt64($0, radix: 16) }
        }

        /// Whether the process has a capability; `nil` if it is unknown.
        func has(_ capability: Capability) -> Bool? {
            capabilities.map { $0 & (1 << capability.rawValue) != 0 }
        }

        private static func container(_ files: MachineFiles) -> String? {
            if let name = files.line("/run/systemd/container"), !name.isEmpty { return name }
            if (try? files.read("/run/.containerenv", limit: 1)) != nil { return "podman" }
            return (try? files.read("/.dockerenv", limit: 1)) == nil ? nil : "docker"
        }

        /// The version of an installed package, from dpkg's database.
        private static func debianVersion(of package: String, _ files: MachineFiles) -> String? {
            let database = (try? files.read("/var/lib/dpkg/status", limit: 32 << 20)) ?? []
            var isPackage = false
            for line in database.split(separator: 0x0A) {
                if line.starts(with: "Package: ".utf8) {
                    isPackage = line.elementsEqual("Package: \(package)".utf8)
                } else if isPackage, line.starts(with: "Version: ".utf8) {
                    return String(decoding: line.dropFirst("Version: ".utf8.count), as: UTF8.self)
                }
            }
            return nil
        }
    }

    /// A capability of Linux that affects a peripheral.
    enum Capability: UInt64, CaseIterable {
        case netAdmin = 12
        case netRaw = 13

        var name: String {
            switch self {
            case .netAdmin: "CAP_NET_ADMIN"
            case .netRaw: "CAP_NET_RAW"
            }
        }
    }
}

extension MachineFiles {
    /// Returns a value of a file with one value for each line, without quotation marks.
    fileprivate func value(of key: String, separator: Character, in path: String) -> String? {
        let lines = ((try? read(path, limit: 65_536)) ?? []).split(separator: 0x0A)
        for line in lines {
            let parts = String(decoding: line, as: UTF8.self).split(separator: separator, maxSplits: 1)
            guard parts.count == 2, parts[0] == key else { continue }
            return String(parts[1].drop { $0 == " " || $0 == "\t" || $0 == "\"" }.prefix { $0 != "\"" })
        }
        return nil
    }
}
