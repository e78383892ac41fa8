internal import CPeripheralGLib
internal import PeripheralKit

/// The standard location for the state of a program.
struct StateLocation: Equatable {
    var path: String
    /// The number of trailing path components that are created if they are missing.
    var madeComponentCount: Int

    /// Determines the location from the environment.
    ///
    /// - Parameters:
    ///   - environment: Returns the value of a variable, which is `nil` or empty if the variable is not set.
    ///   - programName: The name of the program, or `nil` if it is unknown.
    /// - Throws: `unwritable` when no variable determines a location.
    init(environment: (String) -> String?, programName: String?) throws(RestorationError) {
        if let list = environment("STATE_DIRECTORY"), let first = list.split(separator: ":").first {
            self = StateLocation(path: String(first), madeComponentCount: 1)
        } else if let programName, let home = Self.absolute(environment("XDG_STATE_HOME")) {
            self = StateLocation(path: "\(home)/\(programName)", madeComponentCount: 2)
        } else if let programName, let home = Self.absolute(environment("HOME")) {
            self = StateLocation(path: "\(home)/.local/state/\(programName)", madeComponentCount: 3)
        } else {
            throw RestorationError(
                code: .unwritable,
                message:
                    "There is no directory for the state of this program: STATE_DIRECTORY, XDG_STATE_HOME and HOME "
                    + "are not set. Add StateDirectory= to its systemd unit, or use StateDirectory(path:)."
            )
        }
    }

    private init(path: String, madeComponentCount: Int) {
        self.path = path
        self.madeComponentCount = madeComponentCount
    }

    /// Ignores relative paths, as the XDG base directory specification requires.
    private static func absolute(_ path: String?) -> String? {
        guard let path, path.hasPrefix("/") else { return nil }
        return path
    }
}

extension StateLocation {
    static func processEnvironment(_ name: String) -> String? {
        unsafe g_getenv(name).map { unsafe String(cString: $0) }
    }

    /// The last component of the path that started the program.
    static var programName: String? {
        programName(ofPath: CommandLine.arguments.first ?? "")
    }

    static func programName(ofPath path: String) -> String? {
        guard let name = path.split(separator: "/").last, name != ".", name != ".." else { return nil }
        return String(name)
    }
}
