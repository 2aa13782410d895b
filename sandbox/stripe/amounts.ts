import type { Form } from './form.ts'
import { invalid } from './problems.ts'

/** What Stripe can be paid in (https://docs.stripe.com/currencies). */
const currencies = new Set(
  `aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd bwp byn bzd cad cdf chf clp cny cop crc cve czk djf dkk dop dzd
   egp etb eur fjd fkp gbp gel gip gmd gnf gtq gyd hkd hnl htg huf idr ils inr isk jmd jod jpy kes kgs khr kmf krw kwd kyd kzt lak lbp lkr lrd lsl mad
   mdl mga mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf sar sbd scr sek sgd shp
   sle sos srd std szl thb tjs tnd top try ttd twd tzs uah ugx usd uyu uzs vnd vuv wst xaf xcd xcg xof xpf yer zar zmw`.split(/\s+/),
)

/**
 * Currencies whose amounts end in 00 though nobody counts hundredths (https://docs.stripe.com/currencies). Stripe also refuses amounts of
 * dinars and rials whose last digit is not 0; the sandbox takes them, so that orders in thousandths can be tried to the end.
 */
const hundreds = new Set(['isk', 'ugx'])

/** A currency, in the lower case that Stripe writes. */
export function currencyIn(form: Form): string {
  const given = form.need('currency').toLowerCase()
  if (!currencies.has(given)) throw invalid(`Invalid currency: ${given}.`, form.at('currency'))
  return given
}

/** Refuses what Stripe takes no such amount of. */
export function checkAmount(amount: number, currency: string, param: string): number {
  if (amount > 99_999_999) throw invalid('Amount must be no more than 999,999.99', param, 'amount_too_large')
  if (hundreds.has(currency) && amount % 100 !== 0) throw invalid(`Invalid amount: in ${currency} it must be evenly divisible by 100.`, param, 'invalid_amount')
  return amount
}

/** An amount that somebody is to pay. */
export function amountIn(form: Form, name: string, currency: string): number {
  const amount = form.whole(name, 1)
  if (amount === undefined) throw invalid(`Missing required param: ${form.at(name)}.`, form.at(name), 'parameter_missing')
  return checkAmount(amount, currency, form.at(name))
}

/** What is left out is all there is; no more than that. */
export function partIn(form: Form, name: string, all: number, currency: string, tooMuch: (amount: number) => Error): number {
  const amount = form.whole(name, 1) ?? all
  if (amount > all || amount === 0) throw tooMuch(amount)
  return checkAmount(amount, currency, form.at(name))
}
