import FirmwareSupport
import PeripheralKit

/// The door lock as firmware.
@main
struct Firmware {
    static func main() {
        Device.run("door-lock") { device in
            let door = Door { isLocked in
                device.logger.notice("The bolt moves.", metadata: ["locked": "\(isLocked)"])
            } onRestore: { restored in
                for problem in restored.problems { device.logger.warning("\(problem)") }
            }
            try await door.peripheral.run(on: device.backend, logger: device.logger) { session in
                try await device.untilStopped { for await _ in session.events {} }
            }
        }
    }
}
