import ArgumentParser
import ExampleSupport
import PeripheralBTHome
import PeripheralKit

/// A thermometer that Home Assistant hears without a connection: the command line, the advertisement and the
/// run.
@main
struct BTHomeThermometer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bthome-thermometer",
        abstract: "Advertise the temperature of this device's processor to Home Assistant.",
        discussion: """
            The temperature comes from the kernel's class thermal. A device without it uses a simulated one.
            """
    )

    @Option(help: "The name under which Home Assistant finds the thermometer.")
    var name = "Thermometer"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let thermometer = Thermometer()
        let reading = try Advertisement.bthome([.temperature(thermometer.celsius())])
        Terminal.print(thermometer.source)
        try await options.run(Peripheral(name) { reading }) { session in
            while true {
                try await Task.sleep(for: .seconds(1))
                try await session.changeAdvertisement {
                    try $0.setBTHome([.temperature(thermometer.celsius())])
                }
            }
        } emulated: { central in
            var heard: [UInt8]?
            while true {
                let packet = central.scan().first?.payload.serviceData[0xFCD2]
                if let packet, packet.count == 4, packet != heard {
                    heard = packet
                    let hundredths = Int16(bitPattern: UInt16(packet[2]) | UInt16(packet[3]) << 8)
                    Terminal.print("home: hears \(Double(hundredths) / 100) °C, without a connection.")
                }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }
}
