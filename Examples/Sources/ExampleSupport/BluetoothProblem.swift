package import PeripheralBlueZ
internal import PeripheralKit

/// The error that ends an example on a machine without usable Bluetooth, with the next steps of its user.
package struct BluetoothProblem: Error, CustomStringConvertible {
    private let error: PeripheralError

    /// Creates the problem; `nil` if the error has another reason.
    init?(_ error: any Error) {
        guard let error = error as? PeripheralError,
            [.stackUnavailable, .adapterUnavailable, .permissionDenied].contains(error.code)
        else { return nil }
        self.error = error
    }

    package var description: String {
        """
        \(error)
        Add --emulated to run this example without Bluetooth. 'swift run peripheral-doctor' examines this machine.
        """
    }
}

extension RunOptions {
    /// BlueZ with the adapter of `--adapter`.
    ///
    /// If Bluetooth is not usable at the start, the run ends with an error. A later loss does not end it.
    package var bluez: BlueZBackend {
        BlueZBackend(adapter: adapter.map { .named($0) } ?? .firstPowered, recovery: .afterPublication)
    }

    /// Runs a body, and adds the next steps of the user to its error if this machine has no usable Bluetooth.
    package func withNextSteps(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            throw BluetoothProblem(error) ?? error
        }
    }
}
