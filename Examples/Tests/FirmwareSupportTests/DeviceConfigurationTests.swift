import Testing

@testable import FirmwareSupport

struct DeviceConfigurationTests {
    private func configuration(
        _ text: String,
        environment: [String: String] = [:]
    ) throws -> DeviceConfiguration {
        var configuration = DeviceConfiguration { environment[$0] }
        try configuration.read(text, from: "device.conf")
        return configuration
    }

    @Test func readsLinesAsAShellDoes() throws {
        let configuration = try configuration(
            """
            # What it is called.
            NAME="Ward 3"

              ADAPTER=hci1
            EMPTY=
            QUOTED='it = this'
            """
        )
        #expect(configuration["NAME"] == "Ward 3")
        #expect(configuration["ADAPTER"] == "hci1")
        #expect(configuration["QUOTED"] == "it = this")
        #expect(configuration["EMPTY"] == nil)
        #expect(configuration["OTHER"] == nil)
    }

    @Test func theEnvironmentComesFirst() throws {
        let configuration = try configuration("NAME=File\nADAPTER=hci0", environment: ["NAME": "Environment"])
        #expect(configuration["NAME"] == "Environment")
        #expect(configuration["ADAPTER"] == "hci0")
    }

    @Test(arguments: [("\nNAME", 2), ("=value", 1), ("NAME = value", 1), ("A=1\nB=2\nwhat is this", 3)])
    func namesTheLineThatIsNotUnderstood(text: String, line: Int) {
        let error = #expect(throws: ConfigurationError.self) { try configuration(text) }
        #expect(error?.description == "device.conf, line \(line): the line is not NAME=value.")
    }

    @Test(arguments: ["0", "-1", "soon", "1.5"])
    func namesTheValueThatIsNotUnderstood(value: String) throws {
        let configuration = try configuration("INTERVAL=\(value)")
        let error = #expect(throws: ConfigurationError.self) { try configuration.milliseconds("INTERVAL") }
        #expect(error?.description == "INTERVAL: '\(value)' is not a whole number of milliseconds above 0.")
        #expect(try configuration.milliseconds("OTHER") == nil)
    }
}
