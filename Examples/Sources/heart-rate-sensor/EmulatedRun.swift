import ExampleSupport
import PeripheralHeartRate
import PeripheralKit
import PeripheralTesting

/// Serves the sensor on an emulated Bluetooth stack, to a virtual central that shows its data.
func runEmulated(_ sensor: PulseSensor, _ options: RunOptions) async throws {
    try await options.withEmulatedBluetooth { bluez in
        try await options.run(sensor.peripheral, on: bluez) { session in
            Terminal.print("sensor:  \(sensor.peripheral.name) is advertising.")
            // The battery level changes rarely, so the central waits longer than usual.
            let central = bluez.central(for: sensor.peripheral, patience: .seconds(60))
            defer {
                central.disconnect()
                Terminal.print("phone:   disconnected.")
            }
            try await withThrowingTaskGroup { group in
                group.addTask { try await sensor.sendMeasurements(over: session) }
                group.addTask { try await show(sensor, seenBy: central) }
                try await group.waitForAll()
            }
        }
    }
    Terminal.print("sensor:  the advertisement and the services are withdrawn.")
}

/// Acts as a heart rate app and prints each step, then shows the pulse until cancelled.
private func show(_ sensor: PulseSensor, seenBy central: some TestCentral) async throws {
    for advertisement in try await central.scan() {
        let payload = advertisement.payload
        let services = payload.services.map(name(ofService:)).joined(separator: ", ")
        Terminal.print(
            "phone:   found \(payload.localName ?? "a device"), with the services \(services)."
        )
    }
    try await central.connect()
    Terminal.print("phone:   connected, with an MTU of \(try await central.mtu) bytes.")

    if let location = sensor.heartRate.bodySensorLocation {
        Terminal.print("phone:   reads where the sensor is worn: \(try await central.read(location)).")
    }
    if let manufacturer = sensor.deviceInformation.manufacturerName,
        let model = sensor.deviceInformation.modelNumber
    {
        let device = "\(try await central.read(model)) by \(try await central.read(manufacturer))"
        Terminal.print("phone:   reads the device information: \(device).")
    }
    let battery = try await central.read(sensor.battery.level)
    Terminal.print("phone:   reads the battery level: \(battery).")

    try await central.subscribe(to: sensor.battery.level)
    try await central.subscribe(to: sensor.heartRate.measurement)
    Terminal.print("phone:   subscribed to heart rate and battery level.")

    try await plot(sensor, receivedBy: central, on: PulseDisplay(battery: battery))
}

private func name(ofService uuid: BluetoothUUID) -> String {
    switch uuid {
    case .heartRate: "Heart Rate"
    case .battery: "Battery"
    case .deviceInformation: "Device Information"
    default: "\(uuid)"
    }
}

/// Shows the received values, until cancelled.
private func plot(
    _ sensor: PulseSensor,
    receivedBy central: some TestCentral,
    on display: PulseDisplay
) async throws {
    try await withThrowingTaskGroup { group in
        group.addTask { try await display.animate() }
        group.addTask {
            for try await level in central.updates(of: sensor.battery.level) {
                await display.show(level)
            }
        }
        group.addTask {
            var hasReset = false
            for try await measurement in central.updates(of: sensor.heartRate.measurement) {
                await display.show(measurement)
                guard !hasReset, let energy = measurement.energyExpended, energy > 0,
                    let controlPoint = sensor.heartRate.controlPoint
                else { continue }
                try await central.write(controlPoint, .resetEnergyExpended)
                await display.show("phone:   has reset the energy to 0.")
                hasReset = true
            }
        }
        try await group.waitForAll()
    }
}
