package import PeripheralBlueZModel
package import PeripheralCore

/// What was found out about a machine: facts only, no judgement.
package struct Machine: Hashable, Sendable {
    /// The system bus.
    package var bus: Bus
    /// How this user stands to the group that many distributions let use bluetoothd.
    package var membership = GroupMembership.noGroup
    /// Whether this process is root's.
    package var isRoot = false
    /// The interfaces that the bus's policy for BlueZ speaks of; `nil` when its file is not where it usually is.
    package var policyInterfaces: Set<String>?
    package var daemon = Daemon()
    /// The adapters that bluetoothd shows, in its order.
    package var adapters: [Adapter] = []
    /// The adapters that the kernel has, such as `hci0`; `nil` when it does not tell.
    package var kernelAdapters: [String]?
    /// The radio switches for Bluetooth.
    package var radioSwitches: [RadioSwitch] = []
    /// Whether the kernel tells this program which links are encrypted.
    package var seesLinks = true
    package var configuration = MainConfiguration()

    package init(bus: Bus) {
        self.bus = bus
    }
}

extension Machine {
    package struct Bus: Hashable, Sendable {
        package var address: String
        /// Why nobody answers there; `nil` when somebody does.
        package var obstacle: String?

        package init(address: String, obstacle: String? = nil) {
            self.address = address
            self.obstacle = obstacle
        }
    }

    /// How a user stands to the group `bluetooth`.
    package enum GroupMembership: Hashable, Sendable {
        /// There is no such group.
        case noGroup
        case outsider
        /// A member by the list, but not in this session, which began earlier.
        case memberAtNextLogin
        case member
    }

    package struct Daemon: Hashable, Sendable {
        package enum State: Hashable, Sendable {
            case running
            /// The bus starts it when a program calls it.
            case startable
            case absent
            /// The bus was not there to ask.
            case unknown
        }

        /// What came of asking bluetoothd for its adapters.
        package enum Answer: Hashable, Sendable {
            case notAsked, answered, silent
            case denied
            case failed(String)
        }

        /// What came of a call from bluetoothd to this program.
        package enum CallBack: Hashable, Sendable {
            case notTried, arrived, missing
        }

        package var state = State.unknown
        package var answer = Answer.notAsked
        package var callBack = CallBack.notTried
        /// The version that the running one tells.
        package var toldVersion: BlueZVersion?
        /// The version of the installed one.
        package var installedVersion: BlueZVersion?
        /// The oldest that the running one may be, by what it shows.
        package var oldestVersion: BlueZVersion?
        /// Its command line; empty where it cannot be seen.
        package var arguments: [String] = []

        package init() {}

        /// The version that most likely runs.
        package var version: BlueZVersion? { toldVersion ?? installedVersion ?? oldestVersion }

        /// The plug-ins that its command line keeps it from loading.
        package var excludedPlugins: [String] {
            value(of: "-P", "--noplugin")?.split(separator: ",").map(String.init) ?? []
        }

        /// The value of an option of its command line, in any of its forms.
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
        /// `nil` when bluetoothd does not tell.
        package var roles: [String]?
        package var servesAttributes: Bool
        /// `nil` when it cannot advertise.
        package var advertising: AdvertisingCapabilities?

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

        /// Whether a peripheral can be on it, once it is powered on.
        package var canBePeripheral: Bool {
            servesAttributes && advertising != nil && (roles?.contains("peripheral") ?? true)
        }

        /// Whether a peripheral can be published on it now.
        package var isReady: Bool {
            isPowered && canBePeripheral && (advertising.map { $0.freeInstances > 0 } ?? false)
        }
    }

    /// A switch of the kernel's rfkill for a Bluetooth radio.
    package struct RadioSwitch: Hashable, Sendable {
        package var name: String
        /// Off by a program.
        package var isSoftBlocked: Bool
        /// Off by a button, a key or the firmware.
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
