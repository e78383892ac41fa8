import PeripheralKit
import Testing

@testable import PeripheralBlueZ

struct ServiceReportTests {
    private let onAir = PeripheralState(radio: .poweredOn, isRegistered: true, isAdvertising: true)

    @Test func isReadyOnTheAir() {
        var report = ServiceReport()
        #expect(report.note(PeripheralState()) == "STATUS=Coming on the air.")
        #expect(report.note(onAir) == "READY=1\nSTATUS=On the air.")
        #expect(report.note(onAir) == nil)
    }

    @Test func isReadyWhenItWaits() {
        var report = ServiceReport()
        let waiting = PeripheralState(radio: .resetting, reason: "bluetoothd does not run.\nStart it.")
        #expect(report.note(waiting) == "READY=1\nSTATUS=bluetoothd does not run. Start it.")
        #expect(report.note(onAir) == "STATUS=On the air.")
    }

    @Test func tellsItsEndOnceAndNothingAfterIt() {
        var report = ServiceReport()
        #expect(report.stop() == "STOPPING=1\nSTATUS=Withdrawing the peripheral.")
        #expect(report.stop() == nil)
        #expect(report.note(onAir) == nil)
    }
}

struct SystemdNotifierTests {
    private func manager(_ environment: [String: String]) -> SystemdNotifier? {
        SystemdNotifier(process: 42) { environment[$0] }
    }

    @Test func isThereWhereTheEnvironmentNamesIt() {
        #expect(manager([:]) == nil)
        #expect(manager(["NOTIFY_SOCKET": ""]) == nil)
        #expect(manager(["WATCHDOG_USEC": "1000"]) == nil)
        #expect(manager(["NOTIFY_SOCKET": "/run/notify"]) == SystemdNotifier(socket: "/run/notify"))
    }

    @Test(
        arguments: [
            (["WATCHDOG_USEC": "30000000"], .seconds(30)),
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42"], .seconds(30)),
            (["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "43"], nil),
            (["WATCHDOG_USEC": "5000000000"], .seconds(5000)),
            (["WATCHDOG_USEC": "0"], nil),
            (["WATCHDOG_USEC": "-1"], nil),
            (["WATCHDOG_USEC": "soon"], nil),
        ] as [([String: String], Duration?)]
    )
    func keepsAWatchdogWhereTheEnvironmentSaysSo(environment: [String: String], interval: Duration?) {
        let environment = environment.merging(["NOTIFY_SOCKET": "@notify"]) { first, _ in first }
        #expect(manager(environment)?.watchdogInterval == interval)
    }
}
