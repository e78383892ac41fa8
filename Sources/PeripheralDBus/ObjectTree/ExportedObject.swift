/// An object that is exported on the bus.
package struct ExportedObject: Sendable {
    package var path: ObjectPath
    package var interfaces: [ExportedInterface]

    package init(_ path: ObjectPath, _ interfaces: [ExportedInterface]) {
        self.path = path
        self.interfaces = interfaces
    }
}

/// An interface of an exported object: its methods, properties and signals.
package struct ExportedInterface: Sendable {
    package var name: InterfaceName
    /// The bus name whose owner alone may call methods and set properties, or `nil` for no restriction.
    ///
    /// The connection must watch the name (``BusConnection/watchName(_:_:)``). While it knows no owner, all
    /// calls are refused. Every program can read the properties.
    package var callers: BusName?
    package var methods: [ExportedMethod]
    package var signals: [ExportedSignal]
    private let makeProperties: @Sendable () -> [ExportedProperty]

    package init(
        _ name: InterfaceName,
        callers: BusName? = nil,
        methods: [ExportedMethod] = [],
        properties: [ExportedProperty] = [],
        signals: [ExportedSignal] = []
    ) {
        self.init(name, callers: callers, methods: methods, signals: signals) { properties }
    }

    /// Creates an interface that makes its properties when they are listed, read or set.
    ///
    /// Many objects with such interfaces need less memory.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - callers: See ``callers``.
    ///   - methods: The methods.
    ///   - signals: The signals.
    ///   - makeProperties: Makes the properties, always with the same names and types. It is called on the
    ///     loop.
    package init(
        _ name: InterfaceName,
        callers: BusName?,
        methods: [ExportedMethod] = [],
        signals: [ExportedSignal] = [],
        makeProperties: @escaping @Sendable () -> [ExportedProperty]
    ) {
        self.name = name
        self.callers = callers
        self.methods = methods
        self.signals = signals
        self.makeProperties = makeProperties
    }

    /// The properties.
    package var properties: [ExportedProperty] { makeProperties() }
}

/// A method of an exported interface.
package struct ExportedMethod: Sendable {
    /// Runs on the loop and must not block it.
    ///
    /// The arguments already have the declared types. The handler replies immediately, or keeps the reply
    /// (``Reply/deferred()``) and replies later.
    package typealias Handler = @Sendable (borrowing IncomingMessage, consuming Reply) -> Void

    package var name: MemberName
    package var input: Signature
    package var output: Signature
    package var handler: Handler

    package init(_ name: MemberName, _ input: Signature, _ output: Signature, handler: @escaping Handler) {
        self.name = name
        self.input = input
        self.output = output
        self.handler = handler
    }
}

/// A property of an exported interface.
package struct ExportedProperty: Sendable {
    /// Returns the value, or throws to omit the property from listings; called on the loop.
    package typealias Getter = @Sendable () throws(MethodError) -> BusValue
    /// Called on the loop with a value of the declared type.
    package typealias Setter = @Sendable (BusValue) throws(MethodError) -> Void

    package var name: MemberName
    package var signature: Signature
    package var get: Getter
    package var set: Setter?

    package init(_ name: MemberName, _ signature: Signature, get: @escaping Getter, set: Setter? = nil) {
        self.name = name
        self.signature = signature
        self.get = get
        self.set = set
    }

    /// A property that never changes.
    package init(_ name: MemberName, _ value: BusValue) {
        self.init(name, value.signature, get: { value })
    }
}

/// A signal that an interface sends, declared for introspection.
package struct ExportedSignal: Sendable {
    package var name: MemberName
    package var signature: Signature

    package init(_ name: MemberName, _ signature: Signature) {
        self.name = name
        self.signature = signature
    }
}
