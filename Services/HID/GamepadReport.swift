internal import PeripheralKit

/// The input report that a ``HIDGamepad`` sends: the state of the gamepad.
public struct GamepadReport: Sendable {
    /// The direction in which the directional pad is pressed.
    public enum Direction: UInt8, Sendable {
        /// The eight directions in clockwise order, starting with the upward direction.
        case up = 1, upRight, right, downRight, down, downLeft, left, upLeft
    }

    /// The position of a stick.
    public struct Stick: Sendable {
        /// The horizontal position: −127 at the left, 0 in the middle, 127 at the right.
        public let x: Int8
        /// The vertical position: −127 at the top, 0 in the middle, 127 at the bottom.
        public let y: Int8

        /// Creates a position.
        ///
        /// The initializer limits the horizontal and vertical positions to the range −127 to 127.
        ///
        /// - Parameters:
        ///   - x: The horizontal position, from −127 at the left to 127 at the right.
        ///   - y: The vertical position, from −127 at the top to 127 at the bottom.
        public init(x: Int, y: Int) {
            self.x = Int8(max(-127, min(x, 127)))
            self.y = Int8(max(-127, min(y, 127)))
        }

        /// The middle position.
        public static let center = Stick(x: 0, y: 0)
    }

    /// The pressed buttons, as a 16-bit mask.
    ///
    /// The lowest bit represents the first button.
    public var buttons: UInt16
    /// The direction in which the directional pad is pressed.
    ///
    /// The direction is `nil` if the directional pad is not pressed.
    public var direction: Direction?
    /// The left stick.
    public var leftStick: Stick
    /// The right stick.
    public var rightStick: Stick
    /// The position of the left trigger, from 0 (released) to 255 (fully pulled).
    public var leftTrigger: UInt8
    /// The position of the right trigger, from 0 (released) to 255 (fully pulled).
    public var rightTrigger: UInt8

    /// Creates a report.
    ///
    /// By default, all controls of the gamepad are released.
    ///
    /// - Parameters:
    ///   - buttons: The pressed buttons, as a 16-bit mask. The lowest bit represents the first button.
    ///   - direction: The direction in which the directional pad is pressed.
    ///   - leftStick: The left stick.
    ///   - rightStick: The right stick.
    ///   - leftTrigger: The position of the left trigger, from 0 (released) to 255 (fully pulled).
    ///   - rightTrigger: The position of the right trigger, from 0 (released) to 255 (fully pulled).
    public init(
        buttons: UInt16 = 0,
        direction: Direction? = nil,
        leftStick: Stick = .center,
        rightStick: Stick = .center,
        leftTrigger: UInt8 = 0,
        rightTrigger: UInt8 = 0
    ) {
        self.buttons = buttons
        self.direction = direction
        self.leftStick = leftStick
        self.rightStick = rightStick
        self.leftTrigger = leftTrigger
        self.rightTrigger = rightTrigger
    }
}

extension GamepadReport {
    /// The nine encoded bytes of the report.
    ///
    /// The report map of the gamepad describes the format of the bytes.
    public var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(buttons)
        writer.write(direction?.rawValue ?? 0)
        writer.write(leftStick.x)
        writer.write(leftStick.y)
        writer.write(rightStick.x)
        writer.write(rightStick.y)
        writer.write(leftTrigger)
        writer.write(rightTrigger)
        return writer.bytes
    }
}
