import { Pool } from 'undici'

/** Posts JSON and answers the body as text. */
export type Post = (path: string, body: string) => Promise<string>

/** A client at undici's lowest level: no objects but the body's text between the caller and the socket. */
export function createPost(origin: string): Post {
  const pool = new Pool(origin, { connections: 64, pipelining: 1 })
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  return (path, body) =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      pool.dispatch(
        { path, method: 'POST', headers, body },
        {
          onRequestStart() {},
          onResponseStart(_controller, status) {
            if (status !== 200) throw new Error(`${path} answered ${status}`)
          },
          onResponseData(_controller, chunk) {
            chunks.push(chunk)
          },
          onResponseEnd() {
            resolve(chunks.length === 1 ? chunks[0]!.toString() : Buffer.concat(chunks).toString())
          },
          onResponseError(_controller, error) {
            reject(error)
          },
        },
      )
    })
}
