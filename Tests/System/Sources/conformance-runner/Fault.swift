/// Something that goes wrong below a peripheral, by the orders to the rig that make it happen and undo it.
///
/// bluetoothd may crash when a central is cut off in the middle of a request; then it is started again, as
/// systemd would.
struct Fault: CustomStringConvertible {
    var description: String
    var orders: [String]
    var remedy: [String]

    static let all = [
        Fault(
            description: "bluetoothd is stopped",
            orders: ["stop-bluetoothd"],
            remedy: ["start-bluetoothd"]
        ),
        Fault(description: "bluetoothd is killed", orders: ["kill-bluetoothd"], remedy: ["start-bluetoothd"]),
        Fault(
            description: "the bus is killed, and bluetoothd ends with it",
            orders: ["kill-bus"],
            remedy: ["start-bus", "start-bluetoothd"]
        ),
        Fault(
            description: "the adapter is unplugged",
            orders: ["unplug"],
            remedy: ["plug", "start-bluetoothd", "wait-ready"]
        ),
        Fault(
            description: "the adapter is powered off",
            orders: ["power off"],
            remedy: ["start-bluetoothd", "power on"]
        ),
        Fault(
            description: "the adapter is blocked",
            orders: ["block"],
            remedy: ["unblock", "start-bluetoothd", "wait-ready"]
        ),
    ]
}
