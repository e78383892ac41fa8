internal import PeripheralKit

/// The state of a gamepad: the input report of a ``HIDGamepad``.
public struct GamepadReport: Sendable {
    /// The direction in which the directional pad is pressed.
    public enum Direction: UInt8, Sendable {
        /// Up; the other directions follow clockwise.
        case up = 1, upRight, right, downRight, down, downLeft, left, upLeft
    }

    /// The position of a stick.
    public struct Stick: Sendable {
        /// The horizontal position: −127 at the left, 0 in the middle, 127 at the right.
        public let x: Int8
        /// The vertical position: −127 at the top, 0 in the middle, 127 at the bottom.
        public let y: Int8

        /// Creates a position, with each value limited to its range.
        ///
        /// - Parameters:
        ///   - x: −127 at the left to 127 at the right.
        ///   - y: −127 at the top to 127 at the bottom.
        public init(x: Int, y: Int) {
            self.x = Int8(max(-127, min(x, 127)))
            self.y = Int8(max(-127, min(y, 127)))
        }

        /// The middle.
        public static let center = Stick(x: 0, y: 0)
    }

    /// The buttons that are down, with the first button in the lowest of 16 bits.
    public var buttons: UInt16
    /// The direction in which the directional pad is pressed; `nil` when it is not pressed.
    public var direction: Direction?
    /// The left stick.
    public var leftStick: Stick
    /// The right stick.
    public var rightStick: Stick
    /// How far the left trigger is pulled, 0 to 255.
    public var leftTrigger: UInt8
    /// How far the right trigger is pulled, 0 to 255.
    public var rightTrigger: UInt8

    /// Creates a report, in which each omitted element is at rest.
    ///
    /// - Parameters:
    ///   - buttons: The buttons that are down, with the first button in the lowest of 16 bits.
    ///   - direction: The direction in which the directional pad is pressed.
    ///   - leftStick: The left stick.
    ///   - rightStick: The right stick.
    ///   - leftTrigger: How far the left trigger is pulled.
    ///   - rightTrigger: How far the right trigger is pulled.
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
    /// The report in the form of the gamepad's report map: nine bytes.
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
