import type { WidgetFacts } from '../../stores/widget.ts'

const microsACent = 10_000n

/** Returns the widget's next action: a failing credential, else the limit closest to its end. */
function nextAction({ credentialsFailing, nearestLimit }: WidgetFacts, publicUrl: string) {
  if (credentialsFailing > 0) {
    const label = credentialsFailing === 1 ? 'Look at the credential that fails' : `Look at ${credentialsFailing} credentials that fail`
    return { label, url: `${publicUrl}/providers/api/credentials` }
  }
  return nearestLimit ? { label: 'Look at the spend limit that is nearest its end', url: `${publicUrl}/providers/api/limits/${nearestLimit}` } : null
}

/** Builds the gateway's widget. Fractions of a cent are rounded up. */
export const payload = (facts: WidgetFacts, publicUrl: string) => ({
  statistics: [
    { key: 'callsToday', label: 'Calls today', value: facts.callsToday },
    { key: 'failedCallsToday', label: 'Failed calls today', value: facts.failedCallsToday },
    {
      key: 'spendThisMonthCents',
      label: 'Spent this month, in US cents',
      value: Number((BigInt(facts.spentMicros) + microsACent - 1n) / microsACent),
    },
    { key: 'credentialsFailing', label: 'Credentials that fail', value: facts.credentialsFailing },
  ],
  items: [],
  nextAction: nextAction(facts, publicUrl),
  chart: null,
})
