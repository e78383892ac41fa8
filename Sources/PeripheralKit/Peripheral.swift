internal import PeripheralCore

/// A Bluetooth LE peripheral with services for centrals.
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
/// After a central has discovered the peripheral, the central can read and write characteristics, and
/// subscribe to characteristics. A `Peripheral` value is only a declaration. The declaration has no effect
/// until ``run(on:logger:_:)`` publishes the peripheral.
public struct Peripheral: Sendable {
    /// The name of the peripheral.
    ///
    /// An advertisement contains this name, unless the advertisement declares another name.
    public let name: String

    /// The identifier for the preserved state, or `nil` if the state is not preserved.
    public let restorationIdentifier: String?

    /// The number of attribute handles to reserve for services that the program adds during a run.
    public let reservedHandles: Int

    let pairing: Pairing
    let onRestore: (@Sendable (RestoredState) async throws -> Void)?
    /// The declarations of the services.
    ///
    /// Each declaration can perform background work.
    let declarations: [any GATTServiceDeclaration]
    package internal(set) var services: [GATTService]
    let advertisements: [Advertisement]
    let listeners: [L2CAPListener]
    /// Whether nothing is advertised until the program changes the advertisements.
    ///
    /// The value is `true` if the declaration is restored from a peripheral that did not advertise.
    var isSilentAtFirst = false
    /// The differences between a restored declaration and the preserved declaration.
    var restorationIssues: [DeclarationIssue] = []
    let state = CurrentState()
    /// The services during a run, which the program can change.
    package let present = PresentServices()
    /// The passkeys that the handlers show during a run.
    package let passkeyDisplay = PasskeyDisplay()
    let backendMemory = BackendMemory()
    let logHistory = LogHistory()

    /// A sequence of the current state and all later states of the peripheral.
    ///
    /// ```swift
    /// for await state in peripheral.states {
    ///     light.isOn = state.isOnTheAir
    ///     if let reason = state.reason { print(reason) }
    /// }
    /// ```
    ///
    /// Each access to `states` returns a separate sequence. The sequence does not end. If a program does not
    /// read a sequence of states, the sequence retains the newest 64 states.
    ///
    /// All copies of a `Peripheral` share one state. To run one declaration on two adapters at the same time,
    /// write a function that returns the `Peripheral`, and call the function twice.
    public var states: some AsyncSequence<PeripheralState, Never> & Sendable {
        state.listen()
    }

    /// Declares a peripheral.
    ///
    /// - Parameters:
    ///   - name: The name of the peripheral, with 1 to 248 bytes of UTF-8. If the name is too long for an
    ///     advertisement, the advertisement contains a shortened name, and ``validate()`` returns a warning.
    ///   - restorationIdentifier: The identifier for the preserved state of the peripheral, with 1 to 4,096
    ///     bytes of UTF-8. An example is `com.example.lamp`. The next run of the program continues with the
    ///     preserved state, even if the current run crashes. If the identifier is `nil`, the framework
    ///     preserves no state. Only one running peripheral at a time can use a restoration identifier.
    ///   - reservedHandles: The number of attribute handles, from 0 to 512, to reserve for services that the
    ///     program adds during a run. A service needs one handle, and 2 to 5 handles for each characteristic.
    ///     ``PeripheralSession/add(mayFreezeDatabaseHash:_:)`` can add more services. But the first use of
    ///     each 16 handles that are not reserved causes up to 30 additional Service Changed indications to
    ///     connected centrals on BlueZ. Services that were never present use new handles as long as there are
    ///     any, also after others were removed.
    ///   - pairing: The pairing methods for centrals, with their handlers. If an attribute requires security,
    ///     the peripheral needs a pairing method.
    ///   - content: The services, in the order of the GATT database, the ``Advertisement``s, and the
    ///     ``L2CAPListener``s. Without an ``Advertisement``, the peripheral advertises its name and services.
    ///     A peripheral without services declares an ``Advertisement`` that is a broadcast or contains data.
    ///   - onRestore: A closure that receives the restored state, or the problems that prevented the
    ///     restoration. The framework calls the closure before it registers the peripheral and before it
    ///     serves any request. The framework calls the closure only if there is preserved state or a
    ///     restoration problem. If the closure throws an error, the run publishes nothing, logs that
    ///     `onRestore` threw it, and throws the error. If the run ends because there is no Bluetooth stack,
    ///     the framework may not call the closure at all, see ``PeripheralBackend/checkAvailability()``.
    public init(
        _ name: String,
        restorationIdentifier: String? = nil,
        reservedHandles: Int = 0,
        pairing: Pairing = .none,
        @PeripheralBuilder _ content: () -> [PeripheralElement],
        onRestore: (@Sendable (_ restored: RestoredState) async throws -> Void)? = nil
    ) {
        self.name = name
        self.restorationIdentifier = restorationIdentifier
        self.reservedHandles = reservedHandles
        self.pairing = pairing
        self.onRestore = onRestore
        var declarations: [any GATTServiceDeclaration] = []
        var advertisements: [Advertisement] = []
        var listeners: [L2CAPListener] = []
        for element in content() {
            switch element.part {
            case .service(let declaration): declarations.append(declaration)
            case .advertisement(let advertisement): advertisements.append(advertisement)
            case .listener(let listener): listeners.append(listener)
            }
        }
        self.declarations = declarations
        services = declarations.map(\.service)
        self.advertisements = advertisements
        self.listeners = listeners
    }

    /// Checks the declaration without publishing the peripheral.
    ///
    /// ``run(on:logger:_:)`` checks the declaration before it publishes the peripheral. If the declaration
    /// has errors, `run` throws a ``DeclarationError``. If the declaration has warnings, `run` logs them. To
    /// check the declaration for a specific Bluetooth stack, use ``validate(for:)``.
    ///
    /// - Returns: The errors and warnings, in the order of the declared elements. The array is empty if the
    ///   declaration has no errors and no warnings.
    public func validate() -> [DeclarationIssue] {
        DeclarationValidation(of: self).issues
    }
}

// MARK: - A certain Bluetooth stack

extension Peripheral {
    /// Checks the declaration against the rules of a certain Bluetooth stack.
    ///
    /// The check does not require that the Bluetooth stack runs on this machine.
    ///
    /// ```swift
    /// @Test func lampRunsOnDebian12() {
    ///     #expect(lampPeripheral.validate(for: .bluez("5.66")) == [])
    /// }
    /// ```
    ///
    /// The method examines only the declaration. The method cannot find problems that appear at run time.
    /// Examples:
    ///
    /// - Handlers can throw errors that the Bluetooth stack cannot send to the central.
    /// - If a service is not pinned, services of other programs can affect its handles: see
    ///   ``GATTService/handle``.
    ///
    /// - Parameter rules: The rules of the Bluetooth stack, such as `.bluez("5.66")`.
    /// - Returns: The issues of ``validate()``, followed by the issues that the rules of the Bluetooth stack
    ///   cause. The method applies the rules of the Bluetooth stack only if the declaration has no errors. If
    ///   data fits only on some adapters, and the Bluetooth stack refuses it on all, the error alone is
    ///   listed.
    public func validate(for rules: some StackProfile) -> [DeclarationIssue] {
        let issues = validate()
        guard let publication = try? publication() else { return issues }
        let others = rules.examine(publication)
        return issues.filter { issue in
            !others.contains { $0.severity == .error && $0.element == issue.element && issue.isAboutRoom }
        } + others
    }
}

// MARK: - Advertisements

extension Peripheral {
    /// The advertisements at the start of a run, with names and services filled in.
    package var resolvedAdvertisements: [Advertisement] {
        initialAdvertisements.map(resolved)
    }

    /// The advertisements at the start of a run, as declared.
    var initialAdvertisements: [Advertisement] {
        isSilentAtFirst ? [] : declaredAdvertisements
    }

    /// The declared advertisements.
    ///
    /// If no advertisement is declared, the array contains one advertisement with default values.
    var declaredAdvertisements: [Advertisement] {
        advertisements.isEmpty ? [Advertisement()] : advertisements
    }

    /// Fills in the name and services that an advertisement does not specify.
    ///
    /// The function adds only the services that fit, in order, because a default advertisement must not fail.
    func resolved(_ declared: Advertisement) -> Advertisement {
        var advertisement = declared
        if advertisement.localName == nil, !advertisement.includes.contains(.localName) {
            advertisement.localName = name
        }
        guard advertisement.services == nil else { return advertisement }
        advertisement.services = []
        var advertised: Set<BluetoothUUID> = []
        // The issue of a malformed UUID names the service, and need not name the advertisement too.
        for service in services
        where service.isPrimary && service.uuid.malformedLiteral == nil
            && advertised.insert(service.uuid).inserted
        {
            var larger = advertisement
            larger.services?.append(service.uuid)
            if larger.fitsWhereverPossible { advertisement = larger }
        }
        return advertisement
    }
}

extension [Advertisement] {
    /// The name of an advertisement in issues, with a number if there are several advertisements.
    package func name(at index: Int) -> String {
        count == 1 ? "advertisement" : "advertisement \(index + 1)"
    }
}

// MARK: - Publication

extension Peripheral {
    /// Creates the publication of the peripheral from its declaration.
    ///
    /// - Throws: ``DeclarationError`` if the declaration has errors.
    func publication() throws(DeclarationError) -> BackendPublication {
        let errors = validate().filter { $0.severity == .error }
        guard errors.isEmpty else { throw DeclarationError(issues: errors) }
        do {
            let table = try AttributeTable(services: serviceDescriptions)
            return BackendPublication(
                name: name,
                table: table,
                userDescriptions: table.userDescriptions(of: services),
                maximumLengths: table.maximumLengths(of: services),
                advertisements: resolvedAdvertisements,
                listeners: listeners.map(BackendListener.init),
                pairing: pairing.method,
                asksBeforeReplacingBonds: pairing.asksBeforeReplacingBonds,
                reservedHandles: reservedHandles
            )
        } catch {
            throw DeclarationError(issues: [DeclarationIssue(error)])
        }
    }

    /// The services for an attribute table, without impossible includes.
    var serviceDescriptions: [ServiceDescription] {
        var positions: [DeclarationIdentity: Int] = [:]
        return services.enumerated().map { index, service in
            defer { positions[service.identity] = index }
            return service.tableDescription(includes: service.includes.compactMap { positions[$0.identity] })
        }
    }
}

extension GATTService {
    fileprivate func tableDescription(includes: [Int]) -> ServiceDescription {
        ServiceDescription(
            uuid: uuid,
            isPrimary: isPrimary,
            includedServices: includes,
            handle: handle,
            characteristics: characteristics.map { characteristic in
                CharacteristicDescription(
                    uuid: characteristic.uuid,
                    properties: characteristic.properties,
                    security: characteristic.security,
                    requiresAuthorization: !characteristic.access.authorizationHandlers.isEmpty,
                    descriptors: characteristic.descriptors.map { descriptor in
                        DescriptorDescription(
                            uuid: descriptor.uuid,
                            permissions: descriptor.permissions,
                            security: descriptor.security
                        )
                    }
                )
            }
        )
    }
}

extension DeclarationIssue {
    /// Describes why an attribute table is not possible.
    init(_ error: AttributeTableError) {
        let remedy =
            switch error.code {
            case .handleCollision: "pin the service elsewhere, or let the Bluetooth stack choose"
            case .reservedHandle: "pin the service to 0x0001 or above, or let the Bluetooth stack choose"
            default: "declare fewer services, characteristics or descriptors, or pin none so high"
            }
        self.init(severity: .error, element: "peripheral", reason: error.message, remedy: remedy)
    }
}
