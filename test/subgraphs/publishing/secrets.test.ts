import { execute, type GraphQLObjectType, type GraphQLSchema, getNamedType, isObjectType, isRequiredArgument, parse } from 'graphql'
import { expect, test } from 'vitest'
import { routeTables } from '../../../router/rest/tables.ts'
import { connectDemo } from '../../../subgraphs/publishing/connection/demo.ts'
import { openDoor } from '../../kit/door.ts'
import { unbounded } from '../../kit/reading.ts'
import { duePost, wake } from './delivery/delivering.ts'
import { connectIntegration } from './documents.ts'
import { letPublishingCall } from './network/client.ts'

/** Everything of a type that can be asked for without knowing more, some levels deep. */
function all(type: GraphQLObjectType, depth = 4): string {
  const fields = Object.values(type.getFields()).flatMap(field => {
    if (field.args.some(isRequiredArgument)) return []
    const below = getNamedType(field.type)
    if (!isObjectType(below)) return [field.name]
    return depth > 0 ? [`${field.name} ${all(below, depth - 1)}`] : []
  })
  return `{ __typename ${fields.join(' ')} }`
}

/** What every query of publishing answers; arguments are taken by their names. */
async function answers(schema: GraphQLSchema, contextOf: () => unknown, given: Readonly<Record<string, string>>) {
  const lines: string[] = []
  for (const field of Object.values(schema.getQueryType()!.getFields())) {
    if (field.name.startsWith('_')) continue
    const type = getNamedType(field.type)
    const named = field.args.flatMap(({ name }) =>
      (given[`${field.name}.${name}`] ?? given[name]) ? [`${name}: "${given[`${field.name}.${name}`] ?? given[name]}"`] : [],
    )
    if (field.args.some(arg => isRequiredArgument(arg) && !named.some(each => each.startsWith(`${arg.name}:`)))) continue
    const text = `{ ${field.name}${named.length > 0 ? `(${named.join(', ')})` : ''} ${isObjectType(type) ? all(type) : ''} }`
    lines.push(`${field.name} ${JSON.stringify(await execute({ schema, document: parse(text), contextValue: contextOf() }))}`)
  }
  return lines
}

test('P-11 P-24 of a whole run no answer, page, document, header, log line or record holds a token or the secret of an application', async () => {
  const { graph, owner, brand, post, connection } = await duePost()
  await using _graph = graph
  await using door = await openDoor(graph)
  const { publishing } = graph.platform
  const seen: string[] = []

  // Every network is connected, one by its pages; a post goes out, and others fail in ways of their own.
  const outbound = (url: string) => fetch(url, { redirect: 'manual' })
  await letPublishingCall(graph)
  expect(await connectDemo(graph.job, { brandId: brand.id, userId: owner.userId!, sandbox: graph.x.origin, outbound: outbound as never })).toEqual([])
  await wake(graph, post)
  const begun = await graph.execute(connectIntegration, { input: { brandId: brand.id, platform: 'LINKEDIN' } }, { as: owner })
  const consent = await outbound(`${begun.data().connectIntegration.authorizationUrl}&sandbox_approve=1`)
  const run = async (name: string, input: object, fields = 'id') =>
    graph.execute(`mutation($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ${fields} } }`, { input }, { as: owner })
  for (const [platform, fault] of [
    ['X', { fault: 'status', status: 401 }],
    ['LINKEDIN', { fault: 'status', status: 403 }],
    ['THREADS', { fault: 'grant-revoked' }],
  ] as const) {
    await graph.x.at(platform).arm(fault)
    const made = (await run('createPost', { brandId: brand.id, platform, copy: 'It fails' })).data().createPost
    seen.push(JSON.stringify((await run('publishPost', { id: made.id }, 'id status')).partial))
    await graph.clock.run(5_000)
    await graph.x.at(platform).arm()
  }
  const hook = (
    await run('createWebhookEndpoint', { brandId: brand.id, url: `${graph.x.origin}/hooks/seen`, events: ['post.failed'] }, 'secret endpoint { id }')
  ).data()
  const feed = (await run('createCalendarFeed', { brandId: brand.id }, 'url')).data().createCalendarFeed.url as string
  for (const { id } of await graph.rows<{ id: string }>('select id from publishing.connections'))
    seen.push(JSON.stringify((await run('checkConnection', { id }, 'id health accessExpiresAt scopes')).partial))

  // What people and programs can ask for.
  const ids = {
    id: post.id,
    brandId: brand.id,
    'connection.id': connection.id,
    'brand.id': brand.id,
    'webhookEndpoint.id': hook.createWebhookEndpoint.endpoint.id,
  }
  const span = { from: graph.clock.in(-86_400_000).toISOString(), to: graph.clock.in(86_400_000).toISOString() }
  const asked = await answers(publishing.schema, () => publishing.open(owner, { requestId: 'r', ...unbounded } as never), { ...ids, ...span })
  expect(asked.length).toBeGreaterThan(20)
  expect(asked.filter(line => line.includes('"connections"')).length).toBeGreaterThan(0)
  seen.push(...asked)
  const query = `?brandId=${brand.id}&from=${span.from}&to=${span.to}&state=${'s'.repeat(43)}&code=c`
  for (const row of routeTables.find(({ slug }) => slug === 'publishing')!.rows) {
    const path = `/publishing${row.path}`.replace(/:(\w+)/g, (_, name: string) =>
      row.path.includes('/connections/') ? connection.id : name === 'platform' ? 'x' : post.id,
    )
    const { status, headers, text } = await door.ask(row.method === '*' ? 'GET' : row.method, `${path.replace('*', 'x')}${query}`)
    seen.push(`${row.method} ${path} ${status} ${JSON.stringify(headers)} ${text}`)
  }
  for (const url of [feed, consent.headers.get('location')!]) {
    const { status, text } = await door.ask('GET', url.slice(new URL(url).origin.length), { headers: { accept: 'text/html' } })
    seen.push(`${url} ${status} ${text}`)
  }
  const { known } = graph.secrets
  const secrets = [...known].filter(secret => secret !== hook.createWebhookEndpoint.secret)
  // Its examples hold passwords, which are noted as it is read.
  seen.push((await door.ask('GET', '/openapi.json')).text)
  expect(secrets.length, 'tokens of each network were noted').toBeGreaterThan(14)
  expect(seen.filter(line => secrets.some(secret => line.includes(secret))).map(line => line.slice(0, 200))).toEqual([])
  // In publishing's own tables they are sealed.
  const tables = await graph.rows<{ name: string }>(`select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'publishing'`)
  for (const { name } of tables) {
    const rows = await graph.rows<{ line: string }>(`select t::text as line from ${name} t`)
    expect(
      rows.filter(({ line }) => secrets.some(secret => line.includes(secret))),
      name,
    ).toEqual([])
  }
  expect(await graph.secrets.leaks(graph.log, graph.database.sequelize)).toEqual([])
})
