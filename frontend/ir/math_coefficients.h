// SPDX-License-Identifier: Apache-2.0
//
// Constants of the math definitions. Written by tests/oracle/math_coefficients.py, which says
// how each is derived; change them there. Polynomials stand lowest power first.
#pragma once

namespace tilewright::ir::math {

// exp(r) = 1 + r + r^2 P(r), |r| <= ln 2.
// Error 2^-26.02; 2^-26.05 before the coefficients are rounded.
inline constexpr float kExpF32[] = {0x1.00000cp-1f, 0x1.55551p-3f,  0x1.5549c8p-5f,
                                    0x1.11276ap-7f, 0x1.71cbcp-10f, 0x1.9bbedp-13f};

// 2^r = 1 + r P(r), |r| <= 1/2.
// Error 2^-26.26; 2^-28.92 before the coefficients are rounded.
inline constexpr float kExp2F32[] = {0x1.62e43p-1f,  0x1.ebfb94p-3f,  0x1.c6af9ep-5f,
                                     0x1.3b6816p-7f, 0x1.5ef4dap-10f, 0x1.179a06p-13f};

// expm1(r) = r + r^2 P(r), |r| <= ln(2) / 2.
// Error 2^-26.06; 2^-26.14 before the coefficients are rounded.
inline constexpr float kExpm1F32[] = {0x1.fffffep-2f, 0x1.5554a8p-3f, 0x1.555792p-5f,
                                      0x1.122db8p-7f, 0x1.6ad2dap-10f};

// ln 2, leading part
inline constexpr float kLn2F32High = 0x1.62e43p-1f;

// ln 2, the rest
inline constexpr float kLn2F32Low = -0x1.05c61p-29f;

// log2 e
inline constexpr float kLog2eF32 = 0x1.715476p+0f;

// log(1 + f) = f - f^2 / 2 + f^3 P(f), |f| <= 1/3.
// Error 2^-27.66; 2^-27.69 before the coefficients are rounded.
inline constexpr float kLogF32[] = {0x1.555506p-2f,  -0x1.fffefp-3f, 0x1.99d076p-3f,
                                    -0x1.559de2p-3f, 0x1.1ed182p-3f, -0x1.f30e44p-4f,
                                    0x1.1e8462p-3f,  -0x1.080c0ep-3f};

// sin y = y + y z P(z), z = y^2, |y| <= pi / 4.
// Error 2^-27.91; 2^-27.97 before the coefficients are rounded.
inline constexpr float kSinF32[] = {-0x1.555546p-3f, 0x1.110778p-7f, -0x1.995404p-13f};

// cos y = 1 - z / 2 + z^2 P(z), z = y^2, |y| <= pi / 4.
// Error 2^-32.99; 2^-33.01 before the coefficients are rounded.
inline constexpr float kCosF32[] = {0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e80cp-16f};

// erf x = x + x P(z), z = x^2, |x| <= 0.9375.
// Error 2^-25.61; 2^-25.66 before the coefficients are rounded.
inline constexpr float kErfSmallF32[] = {0x1.06eba6p-3f,  -0x1.8126dcp-2f, 0x1.ce1856p-4f,
                                         -0x1.b6698ep-6f, 0x1.466a12p-8f,  -0x1.36a5aep-11f};

// erfc a = 2^P(a), 0.9375 <= a <= 3.95.
// Error 2^-25.40; 2^-25.40 before the coefficients are rounded.
inline constexpr float kErfTailF32[] = {-0x1.8cb4bap-9f, -0x1.9d6f08p+0f, -0x1.e1796ap-1f,
                                        -0x1.0b14a8p-3f, 0x1.6ab58ep-6f,  -0x1.ce0996p-10f};

// -(2^f) = P(f), |f| <= 1/2; error as it enters erf.
// Error 2^-25.13; 2^-25.78 before the coefficients are rounded.
inline constexpr float kErfPowerF32[] = {-0x1.000002p+0f, -0x1.62e432p-1f, -0x1.ebf802p-3f,
                                         -0x1.c6adaep-5f, -0x1.3d608p-7f,  -0x1.5fb62p-10f};

// 2/pi for arguments below 2^50, and 2/pi modulo 4 / 2^e for those whose last bit weighs
// 2^e or more, e = 27, 53, 79 (arguments from 2^50, 2^76, 2^102): leading part
inline constexpr double kTwoOverPiF32High[] = {0x1.45f306dc9c883p-1, -0x1.1b1bbead603d9p-28,
                                               -0x1.5ac07b1505c16p-53, -0x1.505c1596447e5p-81};

// the rest of kTwoOverPiF32High
inline constexpr double kTwoOverPiF32Low[] = {-0x1.6b01ec5417056p-55, 0x1.5f47d4d377037p-82,
                                              0x1.a6ee06db14acdp-107, 0x1.b14acc9e21c82p-135};

// 2/pi to base 2^48: the sum of digit[i] * 2^(-48 i)
inline constexpr double kTwoOverPiDigits[] = {0x0p+0,
                                              0x1.45f306dc9c88p+47,
                                              0x1.529fc2757d1p+44,
                                              0x1.ea69bb81b6c4p+47,
                                              0x1.2b3278872082p+47,
                                              0x1.fca2c757bd76p+47,
                                              0x1.8ac36e48dc74p+47,
                                              0x1.09374b801924p+46,
                                              0x1.77504e8c90ep+45,
                                              0x1.fc3bd6396252p+47,
                                              0x1.4e7dd1046beap+47,
                                              0x1.75da24274cep+45,
                                              0x1.c09ad17df904p+46,
                                              0x1.cc8eb1cc1a98p+45,
                                              0x1.cfa4e422fc58p+45,
                                              0x1.7bf250763ffp+47,
                                              0x1.2fffbc0b301ep+47,
                                              0x1.de5e2316b414p+47,
                                              0x1.b47db4d9fb3cp+46,
                                              0x1.3e584dba7a3p+45,
                                              0x1.fb34f2ff5168p+45,
                                              0x1.d49eeb1faf94p+46,
                                              0x1.e2f67a0e73eep+47,
                                              0x1.14a525d4d7f6p+47,
                                              0x1.7ec47e35742p+46,
                                              0x1.580cc11bf1ecp+46};

// pi / 2, leading part
inline constexpr double kPiOver2F64High = 0x1.921fb54442d18p+0;

// pi / 2, the rest
inline constexpr double kPiOver2F64Low = 0x1.1a62633145c07p-54;

// exp(r) = 1 + r + r^2 P(r), |r| <= ln 2.
// Error 2^-56.39; 2^-56.45 before the coefficients are rounded.
inline constexpr double kExpF64[] = {
    0x1.ffffffffffff3p-2,  0x1.55555555555c2p-3,  0x1.555555555696ep-5,  0x1.11111111070b4p-7,
    0x1.6c16c169bb732p-10, 0x1.a01a01b49473cp-13, 0x1.a01a0588da621p-16, 0x1.71de27b677f0cp-19,
    0x1.27e1c5cf406e2p-22, 0x1.ae73413b6ad09p-26, 0x1.217c68c80d548p-29, 0x1.5dbb6abb73a05p-33};

// 2^r = 1 + r P(r), |r| <= 1/2.
// Error 2^-57.12; 2^-58.04 before the coefficients are rounded.
inline constexpr double kExp2F64[] = {
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c5b3p-3,  0x1.c6b08d704a26fp-5,  0x1.3b2ab6fb9dab9p-7,
    0x1.5d87fe78458d7p-10, 0x1.430913167eaabp-13, 0x1.ffcbfe661dd42p-17, 0x1.62bfb49e26e6ep-20,
    0x1.b520836a8ef03p-24, 0x1.e63b91e604568p-28, 0x1.f0e6e65f00b5fp-32};

// expm1(r) = r + r^2 P(r), |r| <= ln(2) / 2.
// Error 2^-61.26; 2^-61.67 before the coefficients are rounded.
inline constexpr double kExpm1F64[] = {0x1p-1,
                                       0x1.555555555555ap-3,
                                       0x1.555555555555dp-5,
                                       0x1.111111110f0a5p-7,
                                       0x1.6c16c16c11833p-10,
                                       0x1.a01a01b26c3dbp-13,
                                       0x1.a01a01c39ba44p-16,
                                       0x1.71ddf1cb08f6p-19,
                                       0x1.27e497ef14141p-22,
                                       0x1.af6a3dd3a0437p-26,
                                       0x1.1fdd599b76c7dp-29};

// ln 2, leading part
inline constexpr double kLn2F64High = 0x1.62e42fefa39efp-1;

// ln 2, the rest
inline constexpr double kLn2F64Low = 0x1.abc9e3b39803fp-56;

// log2 e
inline constexpr double kLog2eF64 = 0x1.71547652b82fep+0;

// log(1 + f) = f - f^2 / 2 + f^3 P(f), |f| <= 1/3.
// Error 2^-56.65; 2^-56.65 before the coefficients are rounded.
inline constexpr double kLogF64[] = {
    0x1.5555555555543p-2, -0x1.0000000000965p-2, 0x1.999999999e743p-3, -0x1.555555540c725p-3,
    0x1.2492492164a55p-3, -0x1.00000085be7aap-3, 0x1.c71c73bf8fab4p-4, -0x1.999961fe75864p-4,
    0x1.745cbf8d72c17p-4, -0x1.555c08c4e24bap-4, 0x1.3b1cf9c4c7229p-4, -0x1.2413bfc583875p-4,
    0x1.10727f9e6fceep-4, -0x1.05c59c7f1ed1p-4,  0x1.ef39a68879207p-5, -0x1.76a8c1497fe2fp-5,
    0x1.583d3b638d08ap-5, -0x1.6146ba9c11792p-4, 0x1.5a3d2f1146738p-4};

// sin y = y + y z P(z), z = y^2, |y| <= pi / 4.
// Error 2^-57.89; 2^-57.94 before the coefficients are rounded.
inline constexpr double kSinF64[] = {-0x1.5555555555548p-3,  0x1.111111110f73p-7,
                                     -0x1.a01a019be9217p-13, 0x1.71de35552b46dp-19,
                                     -0x1.ae5e4b83cf633p-26, 0x1.5d8b558bba0ap-33};

// cos y = 1 - z / 2 + z^2 P(z), z = y^2, |y| <= pi / 4.
// Error 2^-63.94; 2^-63.96 before the coefficients are rounded.
inline constexpr double kCosF64[] = {0x1.555555555554bp-5,  -0x1.6c16c16c15014p-10,
                                     0x1.a01a019c8efaep-16, -0x1.27e4f7f16935ep-22,
                                     0x1.1ee9dbae9e5bcp-29, -0x1.8fa67190e598fp-37};

// erf x = x + x P(z), z = x^2, |x| <= 1.0.
// Error 2^-56.03; 2^-56.93 before the coefficients are rounded.
inline constexpr double kErfSmallF64[] = {
    0x1.06eba8214db68p-3,  -0x1.812746b03799dp-2,  0x1.ce2f21a03f8b7p-4,  -0x1.b82ce311a8f15p-6,
    0x1.565bcceeaf09ap-8,  -0x1.c02daeac0bd4bp-11, 0x1.f9a295378f3cdp-14, -0x1.f4c8109d36987p-17,
    0x1.b969de8ab54bdp-20, -0x1.5b8187e45f3d5p-23, 0x1.d38536d30198cp-27, -0x1.a10ef2338115ap-31};

// erfc a = 2^P(a), 1.0 <= a <= 5.95.
// Error 2^-57.03; 2^-57.03 before the coefficients are rounded.
inline constexpr double kErfTailF64[] = {
    -0x1.8582f6bde2a99p-21, -0x1.a0be08efc5d3ep+0,  -0x1.d6435a31cf99cp-1, -0x1.2f739d6be8aa9p-3,
    0x1.c0df7492ec98p-6,    0x1.3699f557a29bp-11,   -0x1.6a4d05a9cee9fp-9, 0x1.2374989abfd82p-10,
    -0x1.989dc3feffa8fp-13, -0x1.ea7c45af5cc8bp-16, 0x1.143105d3ad028p-15, -0x1.a38dbbb7cb405p-17,
    0x1.9d8798ad27f4dp-19,  -0x1.2121100f4555p-21,  0x1.1fa43e2e7b3c9p-24, -0x1.86086b163dd5p-28,
    0x1.445f01a2eb47p-32,   -0x1.f455c511cffd4p-38};

// -(2^f) = P(f), |f| <= 1/2; error as it enters erf.
// Error 2^-59.89; 2^-60.56 before the coefficients are rounded.
inline constexpr double kErfPowerF64[] = {-0x1p+0,
                                          -0x1.62e42fefa39efp-1,
                                          -0x1.ebfbdff82c5ap-3,
                                          -0x1.c6b08d704a14dp-5,
                                          -0x1.3b2ab6fba07e2p-7,
                                          -0x1.5d87fe789449fp-10,
                                          -0x1.4309130ddeb9bp-13,
                                          -0x1.ffcbfca4514d1p-17,
                                          -0x1.62bfc97654c27p-20,
                                          -0x1.b52491b2ce269p-24,
                                          -0x1.e618e439bef8fp-28,
                                          -0x1.ea5dca2e72f25p-32};

}  // namespace tilewright::ir::math
