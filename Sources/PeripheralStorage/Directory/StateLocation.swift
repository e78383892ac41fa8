internal import CPeripheralGLib
internal import PeripheralKit

/// Where the state of a program belongs.
struct StateLocation: Equatable {
    var path: String
    /// How many of the last components of the path are made when they are missing.
    var madeComponentCount: Int

    /// `environment` tells the value of a variable, `nil` or empty when it is not set; `programName` is `nil` when the
    /// name cannot be told.
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
                    "There is no place for the state of this program: STATE_DIRECTORY, XDG_STATE_HOME and HOME are "
                    + "not set. Give its systemd unit a StateDirectory=, or name a directory by StateDirectory(path:)."
            )
        }
    }

    private init(path: String, madeComponentCount: Int) {
        self.path = path
        self.madeComponentCount = madeComponentCount
    }

    /// The XDG base directory specification has relative paths ignored.
    private static func absolute(_ path: String?) -> String? {
        guard let path, path.hasPrefix("/") else { return nil }
        return path
    }
}

extension StateLocation {
    static func processEnvironment(_ name: String) -> String? {
        unsafe g_getenv(name).map { unsafe String(cString: $0) }
    }

    /// The last component of the path by which the program was started.
    static var programName: String? {
        programName(ofPath: CommandLine.arguments.first ?? "")
    }

    static func programName(ofPath path: String) -> String? {
        guard let name = path.split(separator: "/").last, name != ".", name != ".." else { return nil }
        return String(name)
    }
}
