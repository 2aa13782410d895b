import type { WidgetFacts } from '../stores/widget.ts'

/** The widget of providers. Calls and what they cost are counted once there are records of them. */
export const payload = ({ credentialsFailing }: WidgetFacts, publicUrl: string) => ({
  statistics: [
    { key: 'callsToday', label: 'Calls today', value: 0 },
    { key: 'failedCallsToday', label: 'Failed calls today', value: 0 },
    { key: 'spendThisMonthCents', label: 'Spent this month, in US cents', value: 0 },
    { key: 'credentialsFailing', label: 'Credentials that fail', value: credentialsFailing },
  ],
  items: [],
  nextAction:
    credentialsFailing > 0
      ? {
          label: credentialsFailing === 1 ? 'Look at the credential that fails' : `Look at ${credentialsFailing} credentials that fail`,
          url: `${publicUrl}/providers/api/credentials`,
        }
      : null,
  chart: null,
})
