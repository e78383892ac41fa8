/// A sensor with two states.
///
/// The description of each sensor is the meaning of the state `true`.
public struct BTHomeBinarySensor: Hashable, Sendable {
    let id: UInt8

    /// A state without a meaning: on.
    ///
    /// Object 0x0F.
    public static let generic = BTHomeBinarySensor(id: 0x0F)
    /// Power is on.
    ///
    /// Object 0x10.
    public static let power = BTHomeBinarySensor(id: 0x10)
    /// Something is open.
    ///
    /// Object 0x11.
    public static let opening = BTHomeBinarySensor(id: 0x11)
    /// The battery is low.
    ///
    /// Object 0x15.
    public static let lowBattery = BTHomeBinarySensor(id: 0x15)
    /// The battery is charging.
    ///
    /// Object 0x16.
    public static let charging = BTHomeBinarySensor(id: 0x16)
    /// Carbon monoxide is detected.
    ///
    /// Object 0x17.
    public static let carbonMonoxide = BTHomeBinarySensor(id: 0x17)
    /// It is cold.
    ///
    /// Object 0x18.
    public static let cold = BTHomeBinarySensor(id: 0x18)
    /// The device is connected.
    ///
    /// Object 0x19.
    public static let connectivity = BTHomeBinarySensor(id: 0x19)
    /// The door is open.
    ///
    /// Object 0x1A.
    public static let door = BTHomeBinarySensor(id: 0x1A)
    /// The garage door is open.
    ///
    /// Object 0x1B.
    public static let garageDoor = BTHomeBinarySensor(id: 0x1B)
    /// Gas is detected.
    ///
    /// Object 0x1C.
    public static let gas = BTHomeBinarySensor(id: 0x1C)
    /// It is hot.
    ///
    /// Object 0x1D.
    public static let heat = BTHomeBinarySensor(id: 0x1D)
    /// Light is detected.
    ///
    /// Object 0x1E.
    public static let light = BTHomeBinarySensor(id: 0x1E)
    /// The lock is unlocked.
    ///
    /// Object 0x1F.
    public static let lock = BTHomeBinarySensor(id: 0x1F)
    /// It is wet.
    ///
    /// Object 0x20.
    public static let moisture = BTHomeBinarySensor(id: 0x20)
    /// Motion is detected.
    ///
    /// Object 0x21.
    public static let motion = BTHomeBinarySensor(id: 0x21)
    /// The device is moving.
    ///
    /// Object 0x22.
    public static let moving = BTHomeBinarySensor(id: 0x22)
    /// The room is occupied.
    ///
    /// Object 0x23.
    public static let occupancy = BTHomeBinarySensor(id: 0x23)
    /// The device is plugged in.
    ///
    /// Object 0x24.
    public static let plug = BTHomeBinarySensor(id: 0x24)
    /// A person is at home.
    ///
    /// Object 0x25.
    public static let presence = BTHomeBinarySensor(id: 0x25)
    /// There is a problem.
    ///
    /// Object 0x26.
    public static let problem = BTHomeBinarySensor(id: 0x26)
    /// The device is running.
    ///
    /// Object 0x27.
    public static let running = BTHomeBinarySensor(id: 0x27)
    /// It is safe.
    ///
    /// Object 0x28.
    public static let safety = BTHomeBinarySensor(id: 0x28)
    /// Smoke is detected.
    ///
    /// Object 0x29.
    public static let smoke = BTHomeBinarySensor(id: 0x29)
    /// Sound is detected.
    ///
    /// Object 0x2A.
    public static let sound = BTHomeBinarySensor(id: 0x2A)
    /// The device is tampered with.
    ///
    /// Object 0x2B.
    public static let tamper = BTHomeBinarySensor(id: 0x2B)
    /// Vibration is detected.
    ///
    /// Object 0x2C.
    public static let vibration = BTHomeBinarySensor(id: 0x2C)
    /// The window is open.
    ///
    /// Object 0x2D.
    public static let window = BTHomeBinarySensor(id: 0x2D)
}

extension BTHomeObject {
    /// The state of a sensor with two states.
    public static func binary(_ sensor: BTHomeBinarySensor, _ state: Bool) -> BTHomeObject {
        BTHomeObject(id: sensor.id, [state ? 1 : 0])
    }
}
