/** Operation of workload 2: it crosses identity, publishing and launcher. */
export const crossing = `{ viewer { kind user { email } organization { name brands { nodes { id name connections { platform } } } } }
  posts(first: 3) { nodes { id status copy author { name } brand { name organization { name } } connection { platform } } pageInfo { hasNextPage } }
  widgets { app title payload { statistics { key value } } } }`

/** Removes from an answer's text what differs between two databases: ids and generated names. */
export function withoutIds(text: string): string {
  return text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id').replaceAll(/(Organization|A post) [0-9a-f]+/g, '$1')
}
