import { expect, test } from 'vitest'
import { readRegistrations, routingUrls } from '../../router/start/registry.ts'
import { sources } from '../../subgraphs/launcher/engines/widgets/sources.ts'
import { isScope } from '../../subgraphs/scopes.ts'
import { readApi } from './graph.ts'

const registrations = await readRegistrations()
const queries = readApi().schema.getQueryType()!.getFields()

test('each listed subgraph registers under its own slug, with existing scopes', () => {
  expect(registrations.map(({ slug }) => slug)).toEqual([...routingUrls.keys()])
  for (const { slug, appId, asks } of registrations) {
    expect(appId).toBe(`app_${slug}`)
    expect(
      asks.filter(scope => !isScope(scope)),
      `asks of subgraphs/${slug}/registration.ts`,
    ).toEqual([])
  }
})

test('a service that registers a widget provides it, and the launcher shows it to the same audience', () => {
  const registered = registrations.flatMap(({ slug, widget }) => (widget ? [[slug, widget.audience] as const] : []))
  const shown = Object.entries(sources).map(([slug, { audience }]) => [slug, audience] as const)
  expect(Object.fromEntries(shown), 'subgraphs/launcher/widget/sources.ts').toEqual(Object.fromEntries(registered))
  expect(registered.map(([slug]) => `${slug}Widget`).filter(name => !(name in queries))).toEqual([])
})

test('the launcher may ask for every widget that it shows', () => {
  const { asks } = registrations.find(({ slug }) => slug === 'launcher')!
  const wanted = Object.values(sources).map(({ scope }) => scope)
  expect([...asks].sort(), 'asks of subgraphs/launcher/registration.ts').toEqual(expect.arrayContaining(wanted))
})
