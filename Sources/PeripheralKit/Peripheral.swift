/// A Bluetooth LE peripheral: what centrals find, read, write and subscribe to.
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
/// This is a declaration. It has no effect until ``run(on:logger:_:)`` publishes it.
public struct Peripheral: Sendable {
    /// The name, which is also advertised unless the advertisement has its own.
    public let name: String

    /// The identifier under which the peripheral's state is preserved; `nil` if it is not preserved.
    public let restorationIdentifier: String?

    let pairing: Pairing
    let onRestore: (@Sendable (RestoredState) async throws -> Void)?
    /// The services as declared.
    ///
    /// Each of them can have work of its own.
    let declarations: [any GATTServiceDeclaration]
    package internal(set) var services: [GATTService]
    let advertisements: [Advertisement]
    /// Whether nothing is advertised until the program changes the advertisements.
    ///
    /// This is so when the declaration is restored from a peripheral that did not advertise.
    var isSilentAtFirst = false
    /// Why a restored declaration differs from the one that was preserved.
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
    /// Each call returns a separate sequence, which does not end. A sequence that is not read keeps the
    /// newest 64 states.
    ///
    /// Copies of a peripheral share one state. To run one declaration on two adapters at the same time,
    /// declare two peripherals with the same function.
    public var states: some AsyncSequence<PeripheralState, Never> & Sendable {
        state.listen()
    }

    /// Declares a peripheral.
    ///
    /// - Parameters:
    ///   - name: The name; 1 to 248 bytes of UTF-8. An advertisement shows as much of it as fits.
    ///   - restorationIdentifier: The identifier under which the peripheral's state is preserved; 1 to 4,096
    ///     bytes of UTF-8, such as `com.example.lamp`. The next run of the program continues where this one
    ///     ends, however it ends. With `nil`, nothing is preserved. Only one running peripheral can use an
    ///     identifier.
    ///   - pairing: How centrals can pair. Attributes that require security need it.
    ///   - content: The services in order, and the ``Advertisement``s. Without an advertisement, the
    ///     peripheral advertises its name and services.
    ///   - onRestore: Receives the restored state, or the problems that prevented its restoration. It is
    ///     called before the peripheral is registered and before any request. It is not called when there is
    ///     neither. An error that it throws ends the run before it begins.
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
    /// ``run(on:logger:_:)`` does this first: it throws if the declaration has errors, and logs warnings. To
    /// examine the declaration for a certain Bluetooth stack, use ``validate(for:)``.
    ///
    /// - Returns: The errors and warnings, in the order of the declaration; empty if there are none.
    public func validate() -> [DeclarationIssue] {
        DeclarationValidation(of: self).issues
    }
}
