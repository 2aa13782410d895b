process.argv[2] = '/tmp/sg.graphql'; process.argv[3] = 'memory'
process.send = ((m: any) => console.log(m.map((x: any) => x.heap.toFixed(1)).join(' '))) as any
await import('./embedded/misses.ts')
