package import Logging

extension Logger {
    /// For tests whose peripherals misbehave on purpose.
    package static let silent = Logger(label: "silent") { _ in SwiftLogNoOpLogHandler() }
}
