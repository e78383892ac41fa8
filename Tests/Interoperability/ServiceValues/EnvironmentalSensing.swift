import PeripheralEnvironmentalSensing
import PeripheralKit

extension ServiceValues {
    static let environmentalSensing: [Sample] = [
        number(.temperature, 21.56), number(.temperature, -273.15), unknown(.temperature),
        number(.humidity, 45.67), unknown(.humidity), number(.pressure, 101_325.4), number(.dewPoint, -5),
        number(.heatIndex, 40), number(.windChill, -20), number(.trueWindSpeed, 12.34),
        number(.trueWindDirection, 359.99), number(.apparentWindSpeed, 1.01),
        number(.apparentWindDirection, 90),
        number(.gustFactor, 1.5), number(.irradiance, 6553.5), number(.illuminance, 123.45),
        unknown(.illuminance),
        number(.uvIndex, 11), number(.carbonDioxide, 421), unknown(.carbonDioxide),
        number(.volatileOrganicCompounds, 300), number(.elevation, -1), number(.magneticDeclination, 3.5),
        number(.pollen, 66_051), number(.particulateMatter1, 1e-8), number(.particulateMatter2_5, 3e-8),
        number(.particulateMatter10, 5e-8), number(.ozone, 2e-8), number(.rainfall, 0.012),
        number(.ammonia, 2e-8), number(.nitrogenDioxide, 2e-8), number(.sulfurDioxide, 2e-8),
        number(.carbonMonoxide, 2e-8), number(.nonMethaneVolatileOrganicCompounds, 2e-8),
        number(.sulfurHexafluoride, 2e-8), number(.methane, 1_900),
        .sent(
            .descriptorValueChanged,
            DescriptorValueChange([.byClient, .triggers], of: 0x2A6E),
            is: ["flags": 3, "characteristic_uuid": "00002A6E-0000-1000-8000-00805F9B34FB"]
        ),
    ]

    private static func number(_ quantity: EnvironmentalQuantity, _ number: Double) -> Sample {
        .sent(quantity.type, EnvironmentalValue(number, of: quantity), is: .number(number))
    }

    private static func unknown(_ quantity: EnvironmentalQuantity) -> Sample {
        .sent(quantity.type, EnvironmentalValue(nil, of: quantity), is: ["special": "value is not known"])
    }
}
