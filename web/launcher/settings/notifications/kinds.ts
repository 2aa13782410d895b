import { sayIfKnown } from '../../../shell/words.ts'

/** Kinds of action items and notifications, by the app that tells them. */
const kindsByApp: Readonly<Record<string, readonly string[]>> = {
  publishing: ['POST_FAILED', 'OUTCOME_UNKNOWN', 'CONNECTION_BROKEN', 'APPROVAL_PENDING', 'WEBHOOK_RESTING'],
  payments: ['PAYMENT_UNKNOWN', 'DISPUTE', 'REFUND_APPROVAL', 'CALLBACK_DEAD', 'WEBHOOK_DEAD', 'order.paid', 'order.refunded'],
  agents: ['APPROVAL_PENDING', 'STEP_UNKNOWN', 'TASK_ASSIGNED', 'AGENT_BUDGET'],
  providers: ['BUDGET_EXHAUSTED', 'BUDGET_ALERT', 'budget.alert', 'CREDENTIAL_FAILING', 'MODEL_DEPRECATED', 'SENDER_DOMAIN_FAILED'],
  launcher: ['ACCESS_REQUEST', 'ACCESS_DECIDED', 'SUBSCRIPTION_PAST_DUE', 'subscription.changed', 'SEATS_EXHAUSTED', 'app.installed'],
}

/** Stands for every app, or every kind. */
export const all = '*'

const known = Object.keys(kindsByApp)

/** Apps that a rule may be about. @param current one that a rule names already */
export const appChoices = (current: string) => choicesOf(known, current, appName)

/** Kinds that an app tells. @param current one that a rule names already */
export const kindChoices = (app: string, current: string) =>
  choicesOf(app === all ? [...new Set(Object.values(kindsByApp).flat())] : (kindsByApp[app] ?? []), current, kindName)

function choicesOf(values: readonly string[], current: string, nameOf: (value: string) => string) {
  const shown = [all, ...values]
  return (shown.includes(current) ? shown : [...shown, current]).map(id => ({ id, name: nameOf(id) }))
}

/** What an app is called; one that these pages do not know by its slug. */
export const appName = (app: string): string => sayIfKnown(app === all ? 'ways.all-apps' : `app.${app}`, app)

/** What a kind is called; one that these pages do not know as its app writes it. */
export const kindName = (kind: string): string => sayIfKnown(kind === all ? 'ways.all-kinds' : `kind.${kind}`, kind)
