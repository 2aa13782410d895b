import { execute, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { actionItemResolvers } from '../../subgraphs/launcher/action-item/resolvers.ts'
import { executableSchema } from '../../subgraphs/wiring/executable.ts'

const resolve = () => null
/** A resolver for each root field of widgets, and whatever a test adds to or takes from them; the other noun of the launcher is whole. */
const launcher = { Query: { widgets: resolve }, Subscription: { widgetUpdated: { subscribe: resolve } } }
const others = { 'action-item': actionItemResolvers }

describe('resolvers that do not fit the SDL keep a subgraph from starting, with the file and the name', () => {
  test.each<[string, Record<string, object>, string]>([
    ['a misspelt type', { ...launcher, Wigdet: { title: resolve } }, 'subgraphs/launcher/widget/resolvers.ts resolves Wigdet, which is no type of its SDL'],
    ['a misspelt field', { ...launcher, Widget: { titel: resolve } }, 'subgraphs/launcher/widget/resolvers.ts resolves Widget.titel, which is no field'],
    ['a misspelt root field', { ...launcher, Query: { widget: resolve } }, 'subgraphs/launcher/widget/resolvers.ts resolves Query.widget, which is no field'],
    ['a name that every object has', { ...launcher, constructor: {} }, 'resolves constructor, which is no type'],
    ['a reference of a misspelt kind', { ...launcher, Widget: { __resolveReferenec: resolve } }, 'resolves Widget.__resolveReferenec, which is no field'],
    ['a resolver of a value type', { ...launcher, WidgetPayload: { itmes: resolve } }, 'resolves WidgetPayload.itmes, which is no field'],
    ['a root field that nobody resolves', { Query: launcher.Query }, 'Subscription.widgetUpdated has no resolver'],
  ])('%s', (_what, widget, sentence) => {
    expect(() => executableSchema('launcher', { ...others, widget })).toThrow(sentence)
  })

  test('a field that two nouns resolve', () => {
    expect(() => executableSchema('launcher', { ...others, widget: launcher, gadget: { Query: { widgets: resolve } } })).toThrow(
      'Query.widgets is resolved by two nouns of launcher, widget and gadget',
    )
  })

  test('what fits starts, the ways to find an entity and a type among it', () => {
    const widget = { ...launcher, Widget: { __resolveReference: resolve, __isTypeOf: () => true, title: resolve } }
    expect(executableSchema('launcher', { ...others, widget }).getType('Widget')).toBeDefined()
  })
})

test('a query that waited too long for a connection may be asked again, and what a resolver answers at once stays no promise', async () => {
  const busy = async () => {
    throw Object.assign(new Error('Operation timeout'), { name: 'SequelizeConnectionAcquireTimeoutError' })
  }
  const schema = executableSchema('launcher', { ...others, widget: { ...launcher, Query: { widgets: busy }, Widget: { title: () => 'at once' } } })
  const { errors } = await execute({ schema, document: parse('{ widgets { title } }') })
  expect(errors).toMatchObject([{ message: expect.stringMatching(/^The database has too much to do/), extensions: { code: 'RATE_LIMITED', retryAfter: 5 } }])
  const { title } = (schema.getType('Widget') as import('graphql').GraphQLObjectType).getFields()
  expect(title!.resolve!({}, {}, {}, {} as never)).toBe('at once')
})
