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

/** An amount as the graph has it. */
export interface Money {
  readonly amountMinor: bigint
  readonly currency: string
}

const codes = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/**
 * Where Stripe counts otherwise than ISO 4217 does (https://docs.stripe.com/currencies): some it counts without decimals, among them the
 * ariary, which has two; two that have none it wants with hundredths that are 00; of those with three the last is to be 0.
 */
export const without = codes('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF')
export const hundreds = codes('ISK UGX')
const thousands = codes('BHD JOD KWD OMR TND')

export const decimalsAt = (currency: string): number => (without.has(currency) ? 0 : thousands.has(currency) ? 3 : 2)

/** Decimals by ISO 4217; of what is not on its list Stripe's own count is taken. */
export const decimalsHere = (currency: string): number => exponents.get(currency) ?? decimalsAt(currency)

/** An amount of Stripe's as the graph has it. @param currency in lower case, as Stripe writes it */
export function fromProcessor(amount: number, currency: string): Money {
  const code = currency.toUpperCase()
  const shift = decimalsAt(code) - decimalsHere(code)
  const whole = BigInt(amount)
  return { amountMinor: shift < 0 ? whole * 10n ** BigInt(-shift) : whole / 10n ** BigInt(shift), currency: code }
}
