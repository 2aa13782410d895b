import type { ServerResponse } from 'node:http'
import { doorRefusal } from '../door/errors.ts'

/** Maximum bytes of a request: representations of many entities are large. */
export const mostBodyBytes = 16 * 1024 * 1024
/** Parses a request's body. @throws DomainError 400 for one that is not JSON */
export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) ?? {}
  } catch {
    throw doorRefusal(400, 'The body is not valid JSON.')
  }
}

/** Sends an answer that no cache may store. */
export function sendJson(response: ServerResponse, status: number, value: unknown, type = 'application/json'): void {
  const text = JSON.stringify(value) ?? 'null'
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text), 'cache-control': 'no-store' }).end(text)
}
