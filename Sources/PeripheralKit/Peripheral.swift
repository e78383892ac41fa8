/// A Bluetooth LE peripheral with services that centrals can use.
///
/// ```swift
/// let peripheral = Peripheral("Pulse") {
///     heartRate
///     GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { power }
///     Advertisement(localName: "Pulse", appearance: 0x0340)
/// }
/// try await peripheral.run(on: .bluez) { session in … }
/// ```
///
/// Centrals find the peripheral and read, write and subscribe to its characteristics. A `Peripheral` is a
/// declaration. The declaration has no effect until ``run(on:logger:_:)`` publishes the peripheral.
public struct Peripheral: Sendable {
    /// The name of the peripheral.
    ///
    /// This name is also advertised, unless the advertisement contains another name.
    public let name: String

    /// The identifier under which the peripheral's state is preserved; `nil` if the state is not preserved.
    public let restorationIdentifier: String?

    let pairing: Pairing
    let onRestore: (@Sendable (RestoredState) async throws -> Void)?
    /// The declarations of the services.
    ///
    /// Each declaration can perform background work.
    let declarations: [any GATTServiceDeclaration]
    package internal(set) var services: [GATTService]
    let advertisements: [Advertisement]
    /// Whether nothing is advertised until the program changes the advertisements.
    ///
    /// The value is `true` if the declaration is restored from a peripheral that did not advertise.
    var isSilentAtFirst = false
    /// The differences between a restored declaration and the preserved declaration.
    var restorationIssues: [DeclarationIssue] = []
    let state = StateBroadcast()
    let backendMemory = BackendMemory()

    /// The current state of the peripheral, followed by each change.
    ///
    /// ```swift
    /// for await state in peripheral.states {
    ///     light.isOn = state.isOnTheAir
    ///     if let reason = state.reason { print(reason) }
    /// }
    /// ```
    ///
    /// Each access returns a separate sequence that does not end. A sequence that is not read retains the
    /// newest 64 states.
    ///
    /// Copies of a peripheral share one state. To run one declaration on two adapters at the same time,
    /// create two peripherals with the same function.
    public var states: some AsyncSequence<PeripheralState, Never> & Sendable {
        state.listen()
    }

    /// Declares a peripheral.
    ///
    /// - Parameters:
    ///   - name: The name; 1 to 248 bytes of UTF-8. If the name does not fit into an advertisement, the
    ///     advertisement contains a shortened name.
    ///   - restorationIdentifier: The identifier under which the peripheral's state is preserved; 1 to 4,096
    ///     bytes of UTF-8, such as `com.example.lamp`. The next run of the program continues with the
    ///     preserved state, even if this run crashes. If the identifier is `nil`, nothing is preserved. Only
    ///     one running peripheral can use an identifier.
    ///   - pairing: How centrals can pair. If an attribute requires security, declare a pairing.
    ///   - content: The services in order, and the ``Advertisement``s. Without an advertisement, the
    ///     peripheral advertises its name and services.
    ///   - onRestore: Receives the restored state, or the problems that prevented its restoration. The
    ///     closure is called before the peripheral is registered and before any request. If there is neither
    ///     a preserved state nor a problem, the closure is not called. If the closure throws an error, the
    ///     run throws the error and publishes nothing.
    public init(
        _ name: String,
        restorationIdentifier: String? = nil,
        pairing: Pairing = .none,
        @PeripheralBuilder _ content: () -> [PeripheralElement],
        onRestore: (@Sendable (_ restored: RestoredState) async throws -> Void)? = nil
    ) {
        self.name = name
        self.restorationIdentifier = restorationIdentifier
        self.pairing = pairing
        self.onRestore = onRestore
        var declarations: [any GATTServiceDeclaration] = []
        var advertisements: [Advertisement] = []
        for element in content() {
            switch element.part {
            case .service(let declaration): declarations.append(declaration)
            case .advertisement(let advertisement): advertisements.append(advertisement)
            }
        }
        self.declarations = declarations
        services = declarations.map(\.service)
        self.advertisements = advertisements
    }

    /// Examines the declaration without publishing it.
    ///
    /// ``run(on:logger:_:)`` examines the declaration first. The run throws if the declaration has errors,
    /// and logs the warnings. To examine the declaration for a certain Bluetooth stack, use
    /// ``validate(for:)``.
    ///
    /// - Returns: The errors and warnings, in the order of the declaration. The array is empty if the
    ///   declaration has no errors and no warnings.
    public func validate() -> [DeclarationIssue] {
        DeclarationValidation(of: self).issues
    }
}
