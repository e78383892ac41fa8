extension DeclarationValidation {
    /// Refuses lists of pairing methods that do not determine what the peripheral asks a person.
    mutating func examinePairing(of peripheral: Peripheral) {
        let methods = peripheral.pairing.kinds.map(\.method)
        let element = "pairing of the peripheral"
        examinePolicy(peripheral.pairing.policy, of: methods, element)
        guard methods.count > 1 else { return }
        if methods.contains(.none) {
            error(element, "its list contains .none, with which no central can pair", "leave out .none")
        }
        if methods.contains(.system) {
            error(
                element,
                "its list contains .system, with which the operating system decides alone",
                "leave out .system, or declare only .system"
            )
        }
        for (name, method) in Self.pairingMethods where methods.count(where: { $0 == method }) > 1 {
            error(element, "its list contains \(name) more than once", "declare each method once")
        }
        examineKeyboard(methods, element)
    }

    /// Refuses a policy that cannot be applied.
    private mutating func examinePolicy(
        _ policy: PairingPolicy,
        of methods: [PairingMethod],
        _ element: String
    ) {
        guard policy != PairingPolicy() else { return }
        if methods == [.none] {
            error(element, "no central can pair with .none at any time", "declare .none alone")
        }
        if methods == [.system] {
            error(
                element,
                "the operating system decides with .system who can pair and when",
                "declare another method, or .system alone"
            )
        }
        if let maximum = policy.maximumBonds, maximum < 1 {
            error(
                element,
                "it limits the number of bonds to \(maximum)",
                "use a limit of at least 1, or .none, with which no central can pair"
            )
        }
    }

    private static let pairingMethods: [(name: String, method: PairingMethod)] = [
        (".justWorks", .justWorks), (".displayPasskey", .displayPasskey), (".enterPasskey", .enterPasskey),
        (".confirmNumber", .confirmNumber),
    ]

    /// Refuses a keyboard and a display that can lead to an undeclared method.
    ///
    /// The device reports the capability KeyboardDisplay. With it, centrals choose any of the three methods
    /// (Core Specification, Vol 3, Part H, table 2.8), and a central that chooses another cannot pair.
    private mutating func examineKeyboard(_ methods: [PairingMethod], _ element: String) {
        guard methods.contains(.enterPasskey) else { return }
        switch (methods.contains(.displayPasskey), methods.contains(.confirmNumber)) {
        case (true, false):
            error(
                element,
                "a device with a keyboard and a display compares numbers with most centrals, but .confirmNumber is missing",
                "add .confirmNumber { … }, or leave out .enterPasskey or .displayPasskey"
            )
        case (false, true):
            error(
                element,
                "a device with a keyboard and a display shows passkeys to some centrals, but .displayPasskey is missing",
                "add .displayPasskey { … }, or leave out .enterPasskey"
            )
        case (true, true), (false, false):
            break
        }
    }
}
