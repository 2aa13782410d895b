/**
 * The currencies in which money is counted here, each with the decimals of its minor unit: the active codes of ISO 4217 (list one, as of
 * January 2026). What has no minor unit (metals, units of account, codes for tests) is no money that anybody pays.
 * https://www.six-group.com/en/products-services/financial-information/data-standards.html
 */
const byExponent = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2: `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK
      DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR
      LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR
      SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER
      ZAR ZMW ZWG`,
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
} as const

/** Decimals of the minor unit by code, in the order of the codes: EUR 2, JPY 0. */
export const exponents: ReadonlyMap<string, number> = new Map(
  Object.entries(byExponent)
    .flatMap(([exponent, codes]) => codes.split(/\s+/).map(code => [code, Number(exponent)] as const))
    .sort(([one], [other]) => (one < other ? -1 : 1)),
)

/** Whether it is the code of a currency, in capitals. */
export const isCurrency = (code: string): boolean => exponents.has(code)
