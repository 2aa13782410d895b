import { execute, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { actionItem } from '../../subgraphs/launcher/action-item/noun.ts'
import { commerceNouns } from '../../subgraphs/launcher/catalog/commerce/nouns.ts'
import { catalogNouns } from '../../subgraphs/launcher/catalog/nouns.ts'
import { dashboardNouns } from '../../subgraphs/launcher/dashboard/nouns.ts'
import { launchNouns } from '../../subgraphs/launcher/launch/nouns.ts'
import { marketingNouns } from '../../subgraphs/launcher/marketing/nouns.ts'
import { notification, notificationDigest, notificationPreferences, pushSubscription } from '../../subgraphs/launcher/notification/noun.ts'
import { executableSchema } from '../../subgraphs/wiring/executable.ts'

const resolve = () => null
const subscribe = { subscribe: resolve }
/** A resolver for each root field of widgets, to which a test adds or from which it takes; the launcher's other nouns are complete. */
const launcher = { Query: { widgets: resolve }, Subscription: { widgetUpdated: subscribe, ownWidgetUpdated: subscribe } }
const others = Object.fromEntries(
  Object.entries({
    'action-item': actionItem,
    notification,
    'notification-preferences': notificationPreferences,
    'notification-digest': notificationDigest,
    'push-subscription': pushSubscription,
    ...dashboardNouns,
    ...catalogNouns,
    ...commerceNouns,
    ...launchNouns,
    ...marketingNouns,
  }).flatMap(([name, { resolvers }]) => (resolvers ? [[name, resolvers]] : [])),
) as Readonly<Record<string, Readonly<Record<string, object>>>>

describe('mismatched resolvers prevent a subgraph’s start, with the file and the name', () => {
  test.each<[string, Record<string, object>, string]>([
    ['a misspelt type', { ...launcher, Wigdet: { title: resolve } }, 'subgraphs/launcher/widget/resolvers.ts resolves Wigdet, which is no type of its SDL'],
    ['a misspelt field', { ...launcher, Widget: { titel: resolve } }, 'subgraphs/launcher/widget/resolvers.ts resolves Widget.titel, which is no field'],
    ['a misspelt root field', { ...launcher, Query: { widget: resolve } }, 'subgraphs/launcher/widget/resolvers.ts resolves Query.widget, which is no field'],
    ['a name that every object has', { ...launcher, constructor: {} }, 'resolves constructor, which is no type'],
    ['a reference of a misspelt kind', { ...launcher, Widget: { __resolveReferenec: resolve } }, 'resolves Widget.__resolveReferenec, which is no field'],
    ['a resolver of a value type', { ...launcher, WidgetPayload: { itmes: resolve } }, 'resolves WidgetPayload.itmes, which is no field'],
    [
      'a root field that nobody resolves',
      { Query: launcher.Query, Subscription: { ownWidgetUpdated: subscribe } },
      'Subscription.widgetUpdated has no resolver',
    ],
  ])('%s', (_what, widget, sentence) => {
    expect(() => executableSchema('launcher', { ...others, widget })).toThrow(sentence)
  })

  test('a field that two nouns resolve', () => {
    expect(() => executableSchema('launcher', { ...others, widget: launcher, gadget: { Query: { widgets: resolve } } })).toThrow(
      'Query.widgets is resolved by two nouns of launcher, widget and gadget',
    )
  })

  test('matching resolvers start, including those for entities and type resolution', () => {
    const widget = { ...launcher, Widget: { __resolveReference: resolve, __isTypeOf: () => true, title: resolve } }
    expect(executableSchema('launcher', { ...others, widget }).getType('Widget')).toBeDefined()
  })
})

test('a query that waited too long for a connection may be retried, and a synchronous result stays synchronous', async () => {
  const busy = async () => {
    throw Object.assign(new Error('Operation timeout'), { name: 'SequelizeConnectionAcquireTimeoutError' })
  }
  const schema = executableSchema('launcher', { ...others, widget: { ...launcher, Query: { widgets: busy }, Widget: { title: () => 'at once' } } })
  const { errors } = await execute({ schema, document: parse('{ widgets { title } }') })
  expect(errors).toMatchObject([{ message: expect.stringMatching(/^The database is overloaded/), extensions: { code: 'RATE_LIMITED', retryAfter: 5 } }])
  const { title } = (schema.getType('Widget') as import('graphql').GraphQLObjectType).getFields()
  expect(title!.resolve!({}, {}, {}, {} as never)).toBe('at once')
})
