/** A subgraph that answers as it should, in a process of its own. Says its address to its parent. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.end('{"data":{"hello":"world"}}')
  })
})
server.listen(0, '127.0.0.1', () => process.send!(`http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`))
process.on('disconnect', () => process.exit())
