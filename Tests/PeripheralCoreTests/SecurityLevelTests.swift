import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SecurityLevelTests {
    @Test func levelsRise() {
        #expect(SecurityLevel.allCases == [.open, .encrypted, .authenticated, .secureConnections])
        #expect(SecurityLevel.allCases == SecurityLevel.allCases.sorted())
    }

    @Test(
        arguments: [
            (.open, .open), (.encrypted, .encrypted), (.authenticated, .authenticated),
            (.secureConnections, .secureConnections),
        ] as [(AttributeSecurity, SecurityLevel)]
    )
    func aNameDemandsTheSameOfEveryAccess(security: AttributeSecurity, level: SecurityLevel) {
        #expect([security.read, security.write, security.notify] == [level, level, level])
        #expect(security == AttributeSecurity(level))
    }

    @Test func whatIsNotNamedIsOpen() {
        let security = AttributeSecurity(write: .authenticated)
        #expect([security.read, security.write, security.notify] == [.open, .authenticated, .open])
    }
}
