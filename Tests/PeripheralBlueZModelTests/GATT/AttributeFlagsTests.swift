import PeripheralCore
import Testing

@testable import PeripheralBlueZModel

@Suite(.timeLimit(.minutes(1)))
struct AttributeFlagsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var properties: CharacteristicProperties
        var security: AttributeSecurity = .open
        var requiresAuthorization = false
        var flags: [String]
        var testDescription: String { flags.joined(separator: " ") }
    }

    @Test(arguments: [
        Row(properties: [], flags: []),
        Row(properties: .broadcast, flags: ["broadcast"]),
        Row(properties: .read, flags: ["read"]),
        Row(properties: .write, flags: ["write"]),
        Row(properties: .writeWithoutResponse, flags: ["write-without-response"]),
        Row(properties: [.notify, .indicate], flags: ["notify", "indicate"]),
        Row(
            properties: [.authenticatedSignedWrites, .reliableWrite, .writableAuxiliaries],
            flags: ["authenticated-signed-writes", "reliable-write", "writable-auxiliaries"]
        ),
        Row(
            properties: [.read, .writeWithoutResponse, .write, .notify, .indicate],
            flags: ["read", "write-without-response", "write", "notify", "indicate"]
        ),
        Row(properties: .read, security: .encrypted, flags: ["encrypt-read"]),
        Row(properties: .read, security: .authenticated, flags: ["encrypt-authenticated-read"]),
        Row(properties: .read, security: .secureConnections, flags: ["secure-read"]),
        Row(
            properties: [.read, .write],
            security: AttributeSecurity(read: .open, write: .encrypted),
            flags: ["read", "write", "encrypt-write"]
        ),
        Row(
            properties: .reliableWrite,
            security: .encrypted,
            flags: ["encrypt-write", "reliable-write"]
        ),
        // There is no flag of its own for the security of commands.
        Row(
            properties: .writeWithoutResponse,
            security: AttributeSecurity(write: .authenticated),
            flags: ["write-without-response", "encrypt-authenticated-write"]
        ),
        Row(
            properties: [.notify, .indicate],
            security: AttributeSecurity(notify: .secureConnections),
            flags: ["notify", "indicate", "secure-notify", "secure-indicate"]
        ),
        Row(
            properties: .indicate,
            security: AttributeSecurity(notify: .encrypted),
            flags: ["indicate", "encrypt-indicate"]
        ),
        // What cannot be done needs no protection.
        Row(properties: .notify, security: AttributeSecurity(read: .encrypted), flags: ["notify"]),
        Row(properties: .read, requiresAuthorization: true, flags: ["read"]),
        Row(
            properties: [.read, .write],
            requiresAuthorization: true,
            flags: ["read", "write", "authorize"]
        ),
    ])
    func characteristic(row: Row) {
        let description = CharacteristicDescription(
            uuid: 0x2A19,
            properties: row.properties,
            security: row.security,
            requiresAuthorization: row.requiresAuthorization
        )
        #expect(AttributeFlags.flags(of: description) == row.flags)
    }

    @Test(arguments: SecurityLevel.allCases, ["", "encrypt-", "encrypt-authenticated-", "secure-"])
    func descriptor(level: SecurityLevel, prefix: String) {
        let description = DescriptorDescription(
            uuid: 0x2901,
            permissions: [.read, .write],
            security: AttributeSecurity(level)
        )
        let prefixes: [SecurityLevel: String] = [
            .open: "", .encrypted: "encrypt-", .authenticated: "encrypt-authenticated-",
            .secureConnections: "secure-",
        ]
        let isMeant = prefixes[level] == prefix
        #expect((AttributeFlags.flags(of: description) == ["\(prefix)read", "\(prefix)write"]) == isMeant)
    }

    @Test func descriptorOfOneKind() {
        for (permissions, flags) in [(.read, ["read"]), (.write, ["write"]), ([], [])]
            as [(DescriptorPermissions, [String])]
        {
            let description = DescriptorDescription(uuid: 0x2901, permissions: permissions)
            #expect(AttributeFlags.flags(of: description) == flags)
        }
    }
}
