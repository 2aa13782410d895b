import { expect, test } from 'vitest'
import { prefersHtml, prefersResponseJson, webHeaders } from '../../router/door/headers.ts'

test.each<[accept: string | null, response: boolean, html: boolean]>([
  [null, false, false],
  ['', false, false],
  ['*/*', false, false],
  ['application/json', false, false],
  ['application/graphql-response+json', true, false],
  ['application/graphql-response+json; charset=utf-8, application/json; charset=utf-8', true, false],
  ['application/json, application/graphql-response+json', false, false],
  ['application/graphql-response+json;q=0.9, application/json', false, false],
  ['application/json;q=0.9, application/graphql-response+json', true, false],
  ['application/graphql-response+json;q=0', false, false],
  ['application/graphql-response+json, */*', true, false],
  ['APPLICATION/GRAPHQL-RESPONSE+JSON', true, false],
  ['multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json;q=0.9', true, false],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', false, true],
  ['text/html;q=0.5, application/json', false, false],
  ['application/json, text/html', false, false],
  ['image/avif, */*', false, false],
  ['nonsense, ;q=, /', false, false],
])('who accepts “%s” gets a GraphQL answer in its own media type: %s; the page of a browser: %s', (accept, response, html) => {
  expect([prefersResponseJson(accept), prefersHtml(accept)]).toEqual([response, html])
})

test('reads no more than whole media types of a thousand characters of a very long Accept header', () => {
  const others = 'a/b, '.repeat(3000)
  expect([prefersResponseJson(`application/graphql-response+json, ${others}`), prefersResponseJson(`${others}application/graphql-response+json`)]).toEqual([
    true,
    false,
  ])
  const read = webHeaders({ accept: `text/event-stream, ${'application/json;q=0.1, '.repeat(600)}` }).get('accept')!
  expect(read.length).toBeLessThanOrEqual(1000)
  expect(read).toMatch(/^text\/event-stream, .*application\/json;q=0\.1$/)
})
