package import PeripheralBlueZModel
internal import PeripheralCore

/// The facts about a machine, without judgement.
package struct Machine: Hashable, Sendable {
    /// The system bus.
    package var bus: Bus
    /// The relation of this user to the group that many distributions allow to use bluetoothd.
    package var membership = GroupMembership.noGroup
    /// Whether this process runs as root.
    package var isRoot = false
    /// The interfaces in the bus policy for BlueZ, or `nil` without the policy's file in a usual place.
    package var policyInterfaces: Set<String>?
    package var daemon = Daemon()
    /// The adapters that bluetoothd reports, in the order of the report.
    package var adapters: [Adapter] = []
    /// The adapters that the kernel has, such as `hci0`, or `nil` if they are unknown.
    package var kernelAdapters: [String]?
    /// The facts that the kernel reports about the controllers of the adapters, by the adapter's name.
    package var controllers: [String: Controller] = [:]
    /// The radio switches for Bluetooth.
    package var radioSwitches: [RadioSwitch] = []
    /// Whether the kernel reports to this program which links are encrypted.
    package var seesLinks = true
    package var configuration = MainConfiguration()
    package var system = System()

    package init(bus: Bus) {
        self.bus = bus
    }

    /// Returns the shell command for a command that only root may run.
    ///
    /// The shell command begins with `sudo` unless this process runs as root.
    func privileged(_ command: String) -> String {
        isRoot ? command : "sudo \(command)"
    }
}

extension Machine {
    package struct Bus: Hashable, Sendable {
        package var address: String
        /// The reason why the bus is unreachable, or `nil` if it is reachable.
        package var obstacle: String?

        package init(address: String, obstacle: String? = nil) {
            self.address = address
            self.obstacle = obstacle
        }
    }

    /// The relation of a user to the group `bluetooth`.
    package enum GroupMembership: Hashable, Sendable {
        /// The group `bluetooth` does not exist.
        case noGroup
        case outsider
        /// The user is a member of the group, but joined the group after the session had started.
        case memberAtNextLogin
        case member
    }

    package struct Daemon: Hashable, Sendable {
        package enum State: Hashable, Sendable {
            case running
            /// The bus starts bluetoothd when a program calls bluetoothd.
            case startable
            case absent
            /// The D-Bus system bus was unreachable.
            case unknown
        }

        /// The result of asking bluetoothd for its adapters.
        package enum Answer: Hashable, Sendable {
            case notAsked, answered, silent
            case denied
            case failed(String)
        }

        /// The result of a call from bluetoothd to this program.
        package enum CallBack: Hashable, Sendable {
            case notTried, arrived, missing
        }

        package var state = State.unknown
        package var answer = Answer.notAsked
        package var callBack = CallBack.notTried
        /// The version that the running daemon reports.
        package var reportedVersion: BlueZVersion?
        /// The version of the installed daemon.
        package var installedVersion: BlueZVersion?
        /// The path of the installed daemon.
        package var installedPath: String?
        /// The oldest version that the running daemon can have, according to its properties.
        package var oldestVersion: BlueZVersion?
        /// The command line of the daemon, empty if it cannot be read.
        package var arguments: [String] = []

        package init() {}

        /// The version that most likely runs.
        package var version: BlueZVersion? { reportedVersion ?? installedVersion ?? oldestVersion }

        /// The plug-ins that the command line excludes.
        package var excludedPlugins: [String] {
            value(of: "-P", "--noplugin")?.split(separator: ",").map(String.init) ?? []
        }

        /// Returns the value of a command-line option, in any of its forms.
        package func value(of short: String, _ long: String) -> String? {
            for (index, argument) in arguments.enumerated().dropFirst() {
                if argument == short || argument == long {
                    return arguments.indices.contains(index + 1) ? arguments[index + 1] : nil
                }
                if argument.hasPrefix(long + "=") { return String(argument.dropFirst(long.count + 1)) }
                if argument.hasPrefix(short), !argument.hasPrefix("--") {
                    return String(argument.dropFirst(short.count))
                }
            }
            return nil
        }
    }

    package struct Adapter: Hashable, Sendable {
        /// The kernel's name, such as `hci0`.
        package var name: String
        package var address: String
        package var alias: String
        package var isPowered: Bool
        package var isPairable: Bool
        /// The roles of the adapter, or `nil` if bluetoothd does not report the roles.
        package var roles: [String]?
        package var servesAttributes: Bool
        /// The advertising capabilities, or `nil` if the adapter cannot advertise.
        package var advertising: AdvertisingCapabilities?
        /// Other properties that bluetoothd reports, by their names in BlueZ's documentation.
        package var details: [Detail] = []

        package init(
            name: String,
            address: String = "",
            alias: String = "",
            isPowered: Bool = true,
            isPairable: Bool = true,
            roles: [String]? = ["central", "peripheral"],
            servesAttributes: Bool = true,
            advertising: AdvertisingCapabilities? = .extended
        ) {
            self.name = name
            self.address = address
            self.alias = alias
            self.isPowered = isPowered
            self.isPairable = isPairable
            self.roles = roles
            self.servesAttributes = servesAttributes
            self.advertising = advertising
        }

        /// Whether the adapter can run a peripheral when it is powered on.
        package var canBePeripheral: Bool {
            servesAttributes && advertising != nil && (roles?.contains("peripheral") ?? true)
        }

        /// Whether the adapter can publish a peripheral now.
        package var isReady: Bool {
            isPowered && canBePeripheral && (advertising.map { $0.freeInstances > 0 } ?? false)
        }
    }

    /// A property of an adapter as text.
    package struct Detail: Hashable, Sendable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// An rfkill switch of the kernel for a Bluetooth radio.
    package struct RadioSwitch: Hashable, Sendable {
        package var name: String
        /// Whether a program blocks the radio.
        package var isSoftBlocked: Bool
        /// Whether a button, a key or the firmware blocks the radio.
        package var isHardBlocked: Bool

        package init(name: String, isSoftBlocked: Bool = false, isHardBlocked: Bool = false) {
            self.name = name
            self.isSoftBlocked = isSoftBlocked
            self.isHardBlocked = isHardBlocked
        }
    }

    /// bluetoothd's configuration file.
    package struct MainConfiguration: Hashable, Sendable {
        package enum Content: Hashable, Sendable {
            case missing
            case unreadable(String)
            case read(KeyFile)
        }

        package var path: String
        package var content: Content

        package init(path: String = "/etc/bluetooth/main.conf", content: Content = .missing) {
            self.path = path
            self.content = content
        }
    }
}
