import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { GraphQLSchema } from 'graphql'
import { type Slug, slugs } from '../../subgraphs/scopes.ts'
import type { Hosts } from '../hosts.ts'
import type { DerivedTable } from '../rest/derive/tables.ts'
import { tagOfBody } from '../rest/preconditions.ts'
import type { OpenapiDocument as Document } from './document.ts'
import { describeServed } from './platform.ts'

/** The routes of a router and the graph that answers them. */
export interface OpenapiOptions {
  readonly hosts: Hosts
  /** Origin of the platform, which the document lists as its server. */
  readonly publicUrl: string
  readonly tables: readonly DerivedTable[]
  readonly schema: GraphQLSchema
}

/**
 * Serves the OpenAPI document without authentication: all routes at `/openapi.json`, those of one service at
 * `/<slug>/openapi.json` and at `/openapi.json` on the service's own host. The document is created at the first
 * request.
 */
export function serveOpenapi(app: FastifyInstance, { hosts, publicUrl, tables, schema }: OpenapiOptions): void {
  const texts = new Map<Slug | null, string>()
  let whole: Document | undefined
  const textOf = (slug: Slug | null): string => {
    whole ??= { ...describeServed(tables, schema), servers: [{ url: publicUrl }] }
    const text = texts.get(slug) ?? JSON.stringify(slug ? partOf(whole, slug) : whole)
    texts.set(slug, text)
    return text
  }
  const send = (request: FastifyRequest, reply: FastifyReply, slug: Slug | null): FastifyReply => {
    const text = textOf(slug)
    const etag = tagOfBody(text)
    reply.headers({ etag, 'cache-control': 'no-cache', 'content-type': 'application/json; charset=utf-8' })
    return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(text)
  }
  app.get('/openapi.json', async (request, reply) => send(request, reply, hosts.serviceOf(request.headers.host)))
  for (const slug of slugs) app.get(`/${slug}/openapi.json`, async (request, reply) => send(request, reply, slug))
}

/** Returns the part of the document about one service, with the components that it refers to. */
function partOf(document: Document, slug: Slug): object {
  const paths = Object.fromEntries(Object.entries(document.paths).filter(([path]) => path.startsWith(`/${slug}/`)))
  const met = new Set<string>()
  const follow = (value: unknown): void => {
    for (const [, kind, name] of JSON.stringify(value).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      const at = `${kind}/${name}`
      if (met.has(at)) continue
      met.add(at)
      follow(document.components[kind!]?.[name!] ?? null)
    }
  }
  follow(paths)
  const components = Object.fromEntries(
    Object.entries(document.components).map(([kind, all]) => [
      kind,
      // Security schemes are referenced by name, not by $ref.
      kind === 'securitySchemes' ? all : Object.fromEntries(Object.entries(all).filter(([name]) => met.has(`${kind}/${name}`))),
    ]),
  )
  return { ...document, tags: document.tags.filter(({ name }) => name.startsWith(`${slug}/`)), paths, components }
}
