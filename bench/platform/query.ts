/** The operation of workload 2: it crosses identity, publishing and launcher. */
export const crossing = `{ viewer { kind user { email } organization { name brands { nodes { id name connections { platform } } } } }
  posts(first: 3) { nodes { id status copy author { name } brand { name organization { name } } connection { platform } } pageInfo { hasNextPage } }
  widgets { app title payload { statistics { key value } } } }`
