import FirmwareSupport
import PeripheralKit

/// The door lock as firmware.
@main
struct Firmware {
    static func main() {
        Device.start("door-lock") { device in
            device.logger.notice("The door lock starts.")
            let door = Door { isLocked in
                // Any central can cause this line, so it is not in the log of a device by default.
                device.logger.info("The bolt moves.", metadata: ["locked": "\(isLocked)"])
            } onRestore: { restored in
                for problem in restored.problems { device.logger.warning("\(problem)") }
            }
            try await device.run(door.peripheral)
        }
    }
}
