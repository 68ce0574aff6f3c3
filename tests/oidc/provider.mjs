// npm oidc-provider with the settings of argv[2] (JSON): port, path, redirect, algorithm, clock (seconds).
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";

const { port, path, redirect, algorithm, clock } = JSON.parse(process.argv[2]);
const now = Date.now;
Date.now = () => now() + clock * 1000;

const KINDS = {
  RS256: ["rsa", { modulusLength: 2048 }],
  PS256: ["rsa", { modulusLength: 2048 }],
  ES256: ["ec", { namedCurve: "P-256" }],
  EdDSA: ["ed25519", {}],
};
const { privateKey } = generateKeyPairSync(...KINDS[algorithm]);
const key = privateKey.export({ format: "jwk" });
const kid = randomBytes(8).toString("hex");

const provider = new Provider(`http://localhost:${port}${path}`, {
  clients: [
    {
      client_id: "phones & desks",
      client_secret: "s:e/c r+et of the client",
      redirect_uris: [redirect],
      id_token_signed_response_alg: algorithm,
    },
  ],
  jwks: { keys: [{ ...key, kid, use: "sig", alg: algorithm }] },
  cookies: { keys: [randomBytes(16).toString("hex")] },
  claims: { openid: ["sub"], profile: ["preferred_username", "given_name", "family_name"], email: ["email"] },
  // The claims are in the ID token, and not at the userinfo endpoint alone.
  conformIdTokenClaims: false,
  ttl: { IdToken: 60, AccessToken: 60, AuthorizationCode: 60, Interaction: 3600, Session: 3600, Grant: 3600 },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      preferred_username: id,
      given_name: id,
      family_name: "Of The Office",
      email: `${id}@example.com`,
    }),
  }),
});

const answer = provider.callback();
createServer((request, response) => {
  if (!request.url.startsWith(path)) {
    response.writeHead(404).end();
    return;
  }
  // oidc-provider learns its path from the difference of the two, as under Express.
  request.originalUrl = request.url;
  request.url = request.url.slice(path.length) || "/";
  answer(request, response);
}).listen(port, "127.0.0.1", () => console.log("listening"));
