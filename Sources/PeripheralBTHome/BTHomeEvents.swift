/// An event of a button.
public struct BTHomeButtonEvent: Hashable, Sendable {
    let code: UInt8

    /// No event, for the first of two buttons if only the second is pressed.
    public static let none = BTHomeButtonEvent(code: 0x00)
    /// The button was pressed once.
    public static let press = BTHomeButtonEvent(code: 0x01)
    /// The button was pressed twice.
    public static let doublePress = BTHomeButtonEvent(code: 0x02)
    /// The button was pressed three times.
    public static let triplePress = BTHomeButtonEvent(code: 0x03)
    /// The button was pressed for a long time.
    public static let longPress = BTHomeButtonEvent(code: 0x04)
    /// The button was pressed twice, for a long time.
    public static let longDoublePress = BTHomeButtonEvent(code: 0x05)
    /// The button was pressed three times, for a long time.
    public static let longTriplePress = BTHomeButtonEvent(code: 0x06)
    /// The button is held.
    public static let hold = BTHomeButtonEvent(code: 0x80)
    /// The button was released after it was held.
    public static let release = BTHomeButtonEvent(code: 0x81)
}

/// An event of a dimmer, which a person rotates by a number of steps.
public struct BTHomeDimmerEvent: Hashable, Sendable {
    let bytes: [UInt8]

    /// No event, for the first of two dimmers if only the second is rotated.
    public static let none = BTHomeDimmerEvent(bytes: [0, 0])

    /// The dimmer was rotated to the left.
    public static func left(steps: UInt8) -> BTHomeDimmerEvent {
        BTHomeDimmerEvent(bytes: [1, steps])
    }

    /// The dimmer was rotated to the right.
    public static func right(steps: UInt8) -> BTHomeDimmerEvent {
        BTHomeDimmerEvent(bytes: [2, steps])
    }
}

/// A command that a remote control sends.
public struct BTHomeCommand: Hashable, Sendable {
    let code: UInt8

    /// Switches off.
    public static let off = BTHomeCommand(code: 0)
    /// Switches on.
    public static let on = BTHomeCommand(code: 1)
    /// Switches to the other state.
    public static let toggle = BTHomeCommand(code: 2)
    /// Goes one step up.
    public static let stepUp = BTHomeCommand(code: 3)
    /// Goes one step down.
    public static let stepDown = BTHomeCommand(code: 4)
}

extension BTHomeObject {
    /// An event of a button, object 0x3A.
    ///
    /// If the device has several buttons, the packet contains one object for each, in their order.
    public static func button(_ event: BTHomeButtonEvent) -> BTHomeObject {
        BTHomeObject(id: 0x3A, [event.code])
    }

    /// An event of a dimmer, object 0x3C.
    ///
    /// If the device has several dimmers, the packet contains one object for each, in their order.
    public static func dimmer(_ event: BTHomeDimmerEvent) -> BTHomeObject {
        BTHomeObject(id: 0x3C, event.bytes)
    }

    /// A command of a remote control, object 0x3B, without arguments.
    public static func command(_ command: BTHomeCommand) -> BTHomeObject {
        let argumentCount: UInt8 = 0
        return BTHomeObject(id: 0x3B, [argumentCount, command.code])
    }
}
